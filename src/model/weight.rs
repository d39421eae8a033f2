//! Nice levels as weights, and the fixed-point product that turns real into virtual time.
//!
//! One step of nice is a factor of about 1.25. Everything that converts time goes through
//! [`calc_delta`], which loses downward (nice 10, 1,000,000 ns: 9,309,090, not 9,309,090.9).
//! Specification: A.3, A.4; vectors H.1.

/// The load of a nice-0 task in stored form: 1024 << 10.
pub const NICE_0_LOAD: u64 = 1 << 20;

/// Bits by which a stored weight is finer than a table weight.
const FIXEDPOINT_SHIFT: u32 = 10;

/// Weight by nice, -20 first.
pub const PRIO_TO_WEIGHT: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, //
    9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277, //
    1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, //
    110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// About 2^32 / weight, by nice, -20 first.
pub const PRIO_TO_WMULT: [u32; 40] = [
    48388, 59856, 76040, 92818, 118348, 147320, 184698, 229616, 287308, 360437, //
    449829, 563644, 704093, 875809, 1099582, 1376151, 1717300, 2157191, 2708050, 3363326, //
    4194304, 5237765, 6557202, 8165337, 10153587, 12820798, 15790321, 19976592, 24970740, 31350126,
    39045157, 49367440, 61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294,
    286331153,
];

/// The weight of every SCHED_IDLE task, whatever its nice.
pub const WEIGHT_IDLEPRIO: u32 = 3;
const WMULT_IDLEPRIO: u32 = 1_431_655_765;

/// A stored weight with its inverse. `inverse` 0 means: not known yet, worked out on use.
///
/// ```
/// use reweight_lab::model::weight::LoadWeight;
/// let load = LoadWeight::of_nice(10);
/// assert_eq!(load.table_weight(), 110);
/// assert_eq!(load.weight, 110 << 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadWeight {
    /// Table weight << 10; for a queue the sum of its entities' stored weights.
    pub weight: u64,
    /// About 2^32 / (weight >> 10), or 0.
    pub inverse: u32,
}

impl LoadWeight {
    /// An empty queue's load.
    pub const ZERO: LoadWeight = LoadWeight {
        weight: 0,
        inverse: 0,
    };

    /// The load of SCHED_IDLE.
    pub const IDLE: LoadWeight = LoadWeight {
        weight: (WEIGHT_IDLEPRIO as u64) << FIXEDPOINT_SHIFT,
        inverse: WMULT_IDLEPRIO,
    };

    /// The load of a nice level, -20..=19.
    pub const fn of_nice(nice: i32) -> LoadWeight {
        let i = (nice + 20) as usize;
        LoadWeight {
            weight: (PRIO_TO_WEIGHT[i] as u64) << FIXEDPOINT_SHIFT,
            inverse: PRIO_TO_WMULT[i],
        }
    }

    /// The weight as in the table.
    pub const fn table_weight(&self) -> u32 {
        (self.weight >> FIXEDPOINT_SHIFT) as u32
    }

    /// Adds an entity's stored weight to a queue's load.
    pub fn add(&mut self, weight: u64) {
        self.weight += weight;
        self.inverse = 0;
    }

    /// Takes an entity's stored weight from a queue's load.
    pub fn sub(&mut self, weight: u64) {
        self.weight -= weight;
        self.inverse = 0;
    }

    /// A.4 step 2: the inverse, worked out from the weight when not known.
    fn known_inverse(&mut self) -> u32 {
        if self.inverse == 0 {
            let w = scale_load_down(self.weight);
            self.inverse = match 0xFFFF_FFFFu64.checked_div(w) {
                None => 0xFFFF_FFFF,
                Some(inverse) => inverse.max(1) as u32,
            };
        }
        self.inverse
    }
}

/// A stored weight as a table weight: 0 stays 0, anything else is at least 2 (A.3).
pub const fn scale_load_down(weight: u64) -> u64 {
    if weight == 0 {
        0
    } else {
        let w = weight >> FIXEDPOINT_SHIFT;
        if w < 2 { 2 } else { w }
    }
}

/// About `delta * weight / load.weight`, rounded down as the kernel rounds (A.4).
///
/// `weight` is a stored weight; `load`'s inverse is worked out and kept when unknown.
pub fn calc_delta(delta: u64, weight: u64, load: &mut LoadWeight) -> u64 {
    // [1]
    let mut fact = scale_load_down(weight);
    let mut shift = 32;
    // [2]
    let inverse = load.known_inverse();
    // [3] never for sane weights, kept for the vectors
    let high = (fact >> 32) as u32;
    if high != 0 {
        let fs = 32 - high.leading_zeros();
        shift -= fs;
        fact >>= fs;
    }
    // [4]
    fact = (fact & 0xFFFF_FFFF) * u64::from(inverse);
    // [5]
    let high = (fact >> 32) as u32;
    if high != 0 {
        let fs = 32 - high.leading_zeros();
        shift -= fs;
        fact >>= fs;
    }
    // [6] one floor; the common case fits 64 bits, which wasm multiplies much faster than 128
    let fact = fact & 0xFFFF_FFFF;
    match delta.checked_mul(fact) {
        Some(product) => product >> shift,
        None => ((u128::from(delta) * u128::from(fact)) >> shift) as u64,
    }
}

/// Real ns as virtual ns for an entity of this load (A.4).
pub fn calc_delta_fair(delta: u64, load: &LoadWeight) -> u64 {
    if load.weight == NICE_0_LOAD {
        delta
    } else {
        let mut load = *load;
        calc_delta(delta, NICE_0_LOAD, &mut load)
    }
}
