package import DocumentModel
internal import DocumentStore

/// A claim that keeps all segments of a journal, as long as it exists. It ends early if the journal becomes too large, so that
/// commits never fail because of it.
package final class SegmentRetention: Sendable {
    private let journal: Journal
    private let number: Int

    /// The maximum size that is kept in addition to the journal's own.
    static let maximumBytes = 1 << 30

    init(_ journal: Journal) {
        self.journal = journal
        number = journal.withIndex { index in
            let number = (index.retentions.max() ?? 0) + 1
            index.retentions.insert(number)
            return number
        }
    }

    deinit {
        journal.withIndex { [number] index in _ = index.retentions.remove(number) }
    }

    /// Checks that no segment has been removed since the retention began.
    ///
    /// - Throws: `.resourceExhausted` if the journal has become too large.
    package func check() throws(StatusError) {
        guard journal.withIndex({ [number] index in !index.retentions.contains(number) }) else { return }
        throw StatusError(
            .resourceExhausted,
            "So much was written in the meantime that the journal could not be kept any longer. Try again when there are fewer writes."
        )
    }
}

extension Journal {
    /// Keeps all segments from now on, as long as the result exists.
    package func retainSegments() -> SegmentRetention {
        SegmentRetention(self)
    }
}
