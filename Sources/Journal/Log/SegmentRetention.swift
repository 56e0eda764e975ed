package import DocumentModel
package import DocumentStore

/// A claim that keeps the segments of a journal that have commits after some commit, as long as it exists. It ends early if the journal
/// becomes too large, so that commits never fail because of it.
package final class SegmentRetention: Sendable {
    private let journal: Journal
    private let number: Int

    /// The maximum size that is kept in addition to the journal's own.
    static let maximumBytes = 1 << 30

    init(_ journal: Journal, after sequence: SequenceNumber) {
        self.journal = journal
        number = journal.withIndex { index in
            index.lastRetention += 1
            index.retentions[index.lastRetention] = sequence
            return index.lastRetention
        }
    }

    deinit {
        journal.withIndex { [number] index in index.retentions[number] = nil }
    }

    /// Returns whether the claim is on a journal, and not on one of the same history that was open before.
    package func isOn(_ journal: Journal) -> Bool { self.journal === journal }

    /// Checks that no segment has been removed since the retention began.
    ///
    /// - Throws: `.resourceExhausted` if the journal has become too large.
    package func check() throws(StatusError) {
        guard journal.withIndex({ [number] index in index.retentions[number] == nil }) else { return }
        throw StatusError(
            .resourceExhausted,
            "So much was written in the meantime that the journal could not be kept any longer. Try again when there are fewer writes."
        )
    }
}

extension Journal {
    /// Keeps all segments with commits after a commit from now on, as long as the result exists.
    package func retainSegments(after sequence: SequenceNumber = .zero) -> SegmentRetention {
        SegmentRetention(self, after: sequence)
    }
}
