//! The fair queue's tree: ordered by a virtual time, first in first out among equals, and each
//! node knows the least vruntime and the least slice below it.
//!
//! A balanced (AVL) tree with parent links in one array: insert, remove and "the first whose
//! vruntime is at most so and so" cost O(log n), the first costs O(1). CFS orders by vruntime
//! (specification B.2), EEVDF by deadline (C.6). The naive twin is a sorted list (`naive.rs`).

use super::units::{TaskId, Vtime};

/// A node's place in the array; stays the same while the entity is in the tree.
pub(crate) type Slot = u32;
const NIL: Slot = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: Slot,
    left: Slot,
    right: Slot,
    height: i32,
    key: Vtime,
    vruntime: Vtime,
    min_vruntime: Vtime,
    slice: u64,
    min_slice: u64,
    task: TaskId,
}

/// The tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    free: Vec<Slot>,
    root: Slot,
    first: Slot,
    len: usize,
}

impl Tree {
    pub fn new() -> Tree {
        Tree {
            nodes: Vec::new(),
            free: Vec::new(),
            root: NIL,
            first: NIL,
            len: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The first in order.
    pub fn first(&self) -> Option<TaskId> {
        (self.first != NIL).then(|| self.node(self.first).task)
    }

    /// The least vruntime of all.
    pub fn min_vruntime(&self) -> Option<Vtime> {
        (self.root != NIL).then(|| self.node(self.root).min_vruntime)
    }

    /// The least slice of all, ns.
    pub fn min_slice(&self) -> Option<u64> {
        (self.root != NIL).then(|| self.node(self.root).min_slice)
    }

    fn node(&self, at: Slot) -> &Node {
        &self.nodes[at as usize]
    }

    fn node_mut(&mut self, at: Slot) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn height(&self, at: Slot) -> i32 {
        if at == NIL { 0 } else { self.node(at).height }
    }

    /// Inserts to the right of equal keys.
    pub fn insert(&mut self, key: Vtime, vruntime: Vtime, slice: u64, task: TaskId) -> Slot {
        let fresh = Node {
            parent: NIL,
            left: NIL,
            right: NIL,
            height: 1,
            key,
            vruntime,
            min_vruntime: vruntime,
            slice,
            min_slice: slice,
            task,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = fresh;
                slot
            }
            None => {
                self.nodes.push(fresh);
                (self.nodes.len() - 1) as Slot
            }
        };
        self.len += 1;
        if self.root == NIL {
            self.root = slot;
            self.first = slot;
            return slot;
        }
        let mut at = self.root;
        let mut leftmost = true;
        loop {
            let left = key.before(self.node(at).key);
            leftmost &= left;
            let next = if left {
                self.node(at).left
            } else {
                self.node(at).right
            };
            if next == NIL {
                if left {
                    self.node_mut(at).left = slot;
                } else {
                    self.node_mut(at).right = slot;
                }
                self.node_mut(slot).parent = at;
                break;
            }
            at = next;
        }
        if leftmost {
            self.first = slot;
        }
        self.retrace(at);
        slot
    }

    /// Takes a node out.
    pub fn remove(&mut self, slot: Slot) {
        if self.first == slot {
            self.first = self.successor(slot);
        }
        self.len -= 1;
        self.free.push(slot);
        let Node {
            left,
            right,
            parent,
            ..
        } = *self.node(slot);
        let from = if left == NIL || right == NIL {
            let child = if left == NIL { right } else { left };
            self.replace_child(parent, slot, child);
            parent
        } else {
            // The successor has no left child; it takes the place of the node.
            let next = self.successor(slot);
            let next_parent = self.node(next).parent;
            let start = if next_parent == slot {
                next
            } else {
                let next_right = self.node(next).right;
                self.replace_child(next_parent, next, next_right);
                self.node_mut(next).right = right;
                self.node_mut(right).parent = next;
                next_parent
            };
            self.replace_child(parent, slot, next);
            self.node_mut(next).left = left;
            self.node_mut(left).parent = next;
            start
        };
        self.retrace(from);
    }

    /// The first in order whose vruntime passes `eligible`, which must hold for every smaller
    /// vruntime once it holds for one.
    pub fn first_where(&self, eligible: impl Fn(Vtime) -> bool) -> Option<TaskId> {
        let mut at = self.root;
        while at != NIL {
            let node = self.node(at);
            if node.left != NIL && eligible(self.node(node.left).min_vruntime) {
                at = node.left;
            } else if eligible(node.vruntime) {
                return Some(node.task);
            } else {
                at = node.right;
            }
        }
        None
    }

    /// Who comes after a node.
    pub fn next(&self, slot: Slot) -> Option<TaskId> {
        let next = self.successor(slot);
        (next != NIL).then(|| self.node(next).task)
    }

    /// All tasks, in order.
    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        let mut at = self.first;
        core::iter::from_fn(move || {
            (at != NIL).then(|| {
                let task = self.node(at).task;
                at = self.successor(at);
                task
            })
        })
    }

    fn successor(&self, slot: Slot) -> Slot {
        let mut at = self.node(slot).right;
        if at != NIL {
            while self.node(at).left != NIL {
                at = self.node(at).left;
            }
            return at;
        }
        let mut child = slot;
        at = self.node(slot).parent;
        while at != NIL && self.node(at).right == child {
            child = at;
            at = self.node(at).parent;
        }
        at
    }

    fn replace_child(&mut self, parent: Slot, old: Slot, new: Slot) {
        if parent == NIL {
            self.root = new;
        } else if self.node(parent).left == old {
            self.node_mut(parent).left = new;
        } else {
            self.node_mut(parent).right = new;
        }
        if new != NIL {
            self.node_mut(new).parent = parent;
        }
    }

    /// Works out what a node knows of its subtree.
    fn refresh(&mut self, at: Slot) {
        let Node {
            left,
            right,
            vruntime,
            slice,
            ..
        } = *self.node(at);
        let (mut height, mut min_vruntime, mut min_slice) = (0, vruntime, slice);
        for child in [left, right] {
            if child != NIL {
                let child = self.node(child);
                height = height.max(child.height);
                min_vruntime = min_vruntime.min(child.min_vruntime);
                min_slice = min_slice.min(child.min_slice);
            }
        }
        let node = self.node_mut(at);
        node.height = height + 1;
        node.min_vruntime = min_vruntime;
        node.min_slice = min_slice;
    }

    fn rotate(&mut self, at: Slot, left: bool) -> Slot {
        let parent = self.node(at).parent;
        let up = if left {
            self.node(at).right
        } else {
            self.node(at).left
        };
        let inner = if left {
            self.node(up).left
        } else {
            self.node(up).right
        };
        if left {
            self.node_mut(at).right = inner;
            self.node_mut(up).left = at;
        } else {
            self.node_mut(at).left = inner;
            self.node_mut(up).right = at;
        }
        if inner != NIL {
            self.node_mut(inner).parent = at;
        }
        self.replace_child(parent, at, up);
        self.node_mut(at).parent = up;
        self.refresh(at);
        self.refresh(up);
        up
    }

    /// Restores balance and knowledge from a node up to the root.
    fn retrace(&mut self, mut at: Slot) {
        while at != NIL {
            self.refresh(at);
            let Node { left, right, .. } = *self.node(at);
            let balance = self.height(left) - self.height(right);
            if balance > 1 {
                if self.height(self.node(left).left) < self.height(self.node(left).right) {
                    self.rotate(left, true);
                }
                at = self.rotate(at, false);
            } else if balance < -1 {
                if self.height(self.node(right).right) < self.height(self.node(right).left) {
                    self.rotate(right, false);
                }
                at = self.rotate(at, true);
            }
            at = self.node(at).parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small linear generator: the test's own, so that the model needs none.
    struct Numbers(u64);
    impl Numbers {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 33) % below
        }
    }

    #[test]
    fn behaves_like_a_sorted_list_at_every_size_and_across_the_wrap() {
        let mut numbers = Numbers(7);
        for origin in [0u64, u64::MAX - 50] {
            let mut tree = Tree::new();
            // (key, vruntime, slice, task, slot), kept in order, equals in order of insertion
            let mut list: Vec<(Vtime, Vtime, u64, TaskId, Slot)> = Vec::new();
            for round in 0..4000u32 {
                let grow = if (round / 500) % 2 == 0 { 3 } else { 1 };
                if list.is_empty() || numbers.next(4) < grow {
                    let key = Vtime(origin).plus(numbers.next(100) as i64);
                    let vruntime = Vtime(origin).plus(numbers.next(1000) as i64);
                    let slice = numbers.next(9) + 1;
                    let task = TaskId(round);
                    let slot = tree.insert(key, vruntime, slice, task);
                    let at = list
                        .iter()
                        .position(|e| key.before(e.0))
                        .unwrap_or(list.len());
                    list.insert(at, (key, vruntime, slice, task, slot));
                } else {
                    let at = numbers.next(list.len() as u64) as usize;
                    let (.., slot) = list.remove(at);
                    tree.remove(slot);
                }
                assert_eq!(tree.len(), list.len());
                assert_eq!(tree.first(), list.first().map(|e| e.3));
                assert!(tree.iter().eq(list.iter().map(|e| e.3)));
                assert_eq!(tree.min_slice(), list.iter().map(|e| e.2).min());
                let bound = Vtime(origin).plus(numbers.next(1000) as i64);
                let ok = |v: Vtime| !bound.before(v);
                assert_eq!(
                    tree.first_where(ok),
                    list.iter().find(|e| ok(e.1)).map(|e| e.3)
                );
                let least = list.iter().map(|e| e.1).reduce(Vtime::min);
                assert_eq!(tree.min_vruntime(), least);
                if let Some(window) = list.windows(2).next() {
                    assert_eq!(tree.next(window[0].4), Some(window[1].3));
                }
            }
            let bound = 1.45 * ((tree.len() + 2) as f32).log2();
            assert!((tree.height(tree.root) as f32) <= bound);
        }
    }
}
