internal import DocumentModel

/// The frames of the commits that are written with one sync.
struct JournalBatch {
    /// The frames, one behind the other.
    private(set) var bytes: [UInt8] = []
    /// Where each commit's frame begins in them.
    private(set) var starts: [Int] = []

    /// Encodes commits.
    ///
    /// - Parameter carried: The hashes of the documents whose state before their first change in the segment is in it already;
    ///   those that are put into this batch are added.
    init(_ commits: [Commit], carried: inout Set<Int>) {
        guard let first = commits.first?.sequence else { return }
        for commit in commits {
            starts.append(bytes.count)
            JournalFrame.append(commit, batch: first, to: &bytes) { path in carried.insert(path.hashValue).inserted }
        }
    }
}
