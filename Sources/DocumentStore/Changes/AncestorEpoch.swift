/// An epoch from which a history has branched off. Its commits, up to one, belong to the history too.
package struct AncestorEpoch: Hashable, Sendable {
    /// The identity of the earlier history.
    package let epoch: Epoch
    /// The last of its commits that the later history contains.
    package let lastSequence: SequenceNumber

    /// Creates an ancestor.
    package init(_ epoch: Epoch, through lastSequence: SequenceNumber) {
        self.epoch = epoch
        self.lastSequence = lastSequence
    }

    /// The maximum number of ancestors that a history knows: the latest ones.
    package static let maximumCount = 64
}
