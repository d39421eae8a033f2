//! A browser and its driver, as this machine has them.
