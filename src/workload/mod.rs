//! rt-app workloads.
