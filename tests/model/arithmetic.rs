//! Specification H.1: the arithmetic, entry by entry. Vectors 1 to 9.

use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::weight::{
    LoadWeight, NICE_0_LOAD, calc_delta, calc_delta_fair, scale_load_down,
};

/// The loads of the table's columns: nice -20, -10, -1, 0, 1, 5, 10, 15, 19, SCHED_IDLE.
fn columns() -> Vec<LoadWeight> {
    let nice = [-20, -10, -1, 0, 1, 5, 10, 15, 19];
    nice.into_iter()
        .map(LoadWeight::of_nice)
        .chain([LoadWeight::IDLE])
        .collect()
}

const TABLE: [(u64, [u64; 10]); 8] = [
    (1, [0, 0, 0, 1, 1, 3, 9, 28, 68, 341]),
    (
        1000,
        [11, 107, 801, 1000, 1248, 3056, 9309, 28444, 68266, 341333],
    ),
    (
        1_000_000,
        [
            11536, 107247, 801879, 1000000, 1248780, 3056716, 9309090, 28444444, 68266666,
            341333333,
        ],
    ),
    (
        700_000,
        [
            8075, 75073, 561315, 700000, 874146, 2139701, 6516363, 19911111, 47786666, 238933333,
        ],
    ),
    (
        750_000,
        [
            8652, 80435, 601409, 750000, 936585, 2292537, 6981818, 21333333, 51199999, 255999999,
        ],
    ),
    (
        3_000_000,
        [
            34609, 321742, 2405638, 3000000, 3746341, 9170149, 27927272, 85333333, 204799999,
            1023999999,
        ],
    ),
    (
        6_000_000,
        [
            69219, 643485, 4811276, 6000000, 7492682, 18340298, 55854545, 170666666, 409599999,
            2047999999,
        ],
    ),
    (
        1_000_000_000,
        [
            11536598,
            107247591,
            801879405,
            1000000000,
            1248780488,
            3056716442,
            9309090852,
            28444444417,
            68266666650,
            341333333253,
        ],
    ),
];

#[test]
fn vector_1_real_to_virtual_time_by_delta_and_nice() {
    for (delta, row) in TABLE {
        for (load, want) in columns().iter().zip(row) {
            assert_eq!(calc_delta_fair(delta, load), want, "{delta} at {load:?}");
        }
    }
}

#[test]
fn vector_2_long_spans_need_128_bits_and_one_floor() {
    let mut nice_19 = LoadWeight::of_nice(19);
    assert_eq!(
        calc_delta(1 << 40, NICE_0_LOAD, &mut nice_19),
        75059993772032
    );
    let mut nice_10 = LoadWeight::of_nice(10);
    assert_eq!(
        calc_delta(1_000_000_000_000, NICE_0_LOAD, &mut nice_10),
        9309090852737
    );
}

/// A.4 steps 3 and 5, by hand: a table weight of 2^33 is halved twice (shift 30), times 4194303 it
/// is 21 bits too long (shift 9), so the factor is 4194303 * 2^10.
#[test]
fn weights_beyond_32_bits_lose_their_low_bits_once() {
    for low_bits in [0, 3 << 10] {
        let mut load = LoadWeight {
            weight: NICE_0_LOAD,
            inverse: 0,
        };
        let weight = (1 << 43) + low_bits;
        assert_eq!(calc_delta(1, weight, &mut load), 8_388_606);
        assert_eq!(calc_delta(1000, weight, &mut load), 8_388_606_000);
        assert_eq!(load.inverse, 4_194_303);
    }
}

#[test]
fn vector_3_inverses_are_worked_out_on_use() {
    for (weight, want) in [
        (1024u64, 4194303u32),
        (1134, 3787449),
        (2048, 2097151),
        (2158, 1990253),
        (88776, 48379),
    ] {
        let mut load = LoadWeight {
            weight: weight << 10,
            inverse: 0,
        };
        calc_delta(1, NICE_0_LOAD, &mut load);
        assert_eq!(load.inverse, want, "{weight}");
    }
}

#[test]
fn vector_4_the_table_inverse_of_1024_is_one_more() {
    assert_eq!(LoadWeight::of_nice(0).inverse, 4194304);
}

#[test]
fn vector_5_slices_of_6_ms_before_the_least_granularity() {
    let slice = |weights: &[u64], of: u64| {
        let mut load = LoadWeight {
            weight: weights.iter().sum::<u64>() << 10,
            inverse: 0,
        };
        calc_delta(6_000_000, of << 10, &mut load)
    };
    assert_eq!(slice(&[1024, 110], 1024), 5417989);
    assert_eq!(slice(&[1024, 110], 110), 582010);
    assert_eq!(slice(&[1024, 1024], 1024), 2999998);
    assert_eq!(slice(&[1024, 1024, 110], 1024), 2847079);
    assert_eq!(slice(&[1024, 1024, 110], 110), 305838);
    assert_eq!(slice(&[1024], 1024), 5999998);
    assert_eq!(slice(&[15, 88761], 15), 1013);
    assert_eq!(slice(&[15, 88761], 88761), 5998883);
}

#[test]
fn vector_6_stored_weights_scale_down_to_at_least_two() {
    for (stored, want) in [
        (0, 0),
        (1, 2),
        (1023, 2),
        (2047, 2),
        (2048, 2),
        (3072, 3),
        (112640, 110),
    ] {
        assert_eq!(scale_load_down(stored), want, "{stored}");
    }
}

#[test]
fn vector_7_tunables_grow_with_the_log_of_the_cpus() {
    let factor = |cpus| {
        let mut settings = Settings::new(Kernel::V6_1);
        settings.cpus_online = cpus;
        settings.factor()
    };
    assert_eq!([1, 2, 3, 4, 7, 8, 64].map(factor), [1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn vector_8_wakeup_granularity_by_nice() {
    let gran = |nice| calc_delta_fair(1_000_000, &LoadWeight::of_nice(nice));
    assert_eq!(
        [0, 10, 19, -20].map(gran),
        [1000000, 9309090, 68266666, 11536]
    );
}

#[test]
fn vector_9_longer_is_never_less_and_pieces_lose_less_than_one_each() {
    for load in columns() {
        let mut last = 0;
        for delta in (0..3_000_000u64).step_by(997) {
            let whole = calc_delta_fair(delta, &load);
            assert!(whole >= last);
            last = whole;
            let pieces = [delta / 7, delta / 3, delta - delta / 7 - delta / 3];
            let sum: u64 = pieces.iter().map(|&d| calc_delta_fair(d, &load)).sum();
            assert!(sum <= whole && whole - sum < 3, "{delta} at {load:?}");
        }
    }
}
