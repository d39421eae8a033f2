//! Any bytes as a whole program of the model: the invariants after every event, and the naive twin
//! beside every operation of the fair queues.
#![no_main]

#[path = "../../tests/common/random.rs"]
mod random;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = random::machine(bytes).run_until(random::LENGTH, &mut ());
});
