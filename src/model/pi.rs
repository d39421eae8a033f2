//! `rt_mutex_setprio` and its variants.

/// What a lock lends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A plain mutex: nothing is lent.
    None,
    /// The kernel as it is: the prio is lent, the weight is not.
    Stock,
    /// The patch as posted: fair to fair, the weight follows.
    Reweight,
    /// Its second version: fair waiters are also ordered by nice.
    ReweightV2,
    /// The ideal: prio and weight are at every instant the best of all who wait.
    ReweightFixed,
    /// Proxy execution: the waiter stays queued and the owner runs in its place.
    ProxyExec,
}

impl Variant {
    /// Every variant, in the order of their story.
    pub const ALL: [Variant; 6] = [
        Variant::None,
        Variant::Stock,
        Variant::Reweight,
        Variant::ReweightV2,
        Variant::ReweightFixed,
        Variant::ProxyExec,
    ];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::None => "none",
            Variant::Stock => "stock",
            Variant::Reweight => "reweight",
            Variant::ReweightV2 => "reweight-v2",
            Variant::ReweightFixed => "reweight-fixed",
            Variant::ProxyExec => "proxy-exec",
        }
    }

    /// The variant of that name.
    pub fn named(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|v| v.name() == name)
    }
}

/// Which steps of `rt_mutex_setprio` ran: bit n-1 is step n of specification E.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps(pub u16);

impl Steps {
    /// The patch's own line: the reweight inside step 8.
    pub const REWEIGHT: u16 = 1 << 15;

    /// Marks step `n`, 1..=11.
    pub fn mark(&mut self, n: u32) {
        self.0 |= 1 << (n - 1);
    }

    /// Whether step `n`, 1..=11, ran.
    pub const fn ran(self, n: u32) -> bool {
        self.0 & (1 << (n - 1)) != 0
    }

    /// Whether the patch's line ran.
    pub const fn reweighted(self) -> bool {
        self.0 & Steps::REWEIGHT != 0
    }
}
