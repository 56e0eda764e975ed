/// The index of an expression in a compiled program.
struct NodeID: Hashable, Sendable {
    let index: Int
}
