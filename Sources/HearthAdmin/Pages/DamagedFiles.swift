import DocumentModel

/// The files and folders in one place that can't be read as documents or collections, as many as a page has room for.
struct DamagedFiles: Sendable {
    private let shown: [DamagedFile]
    private let count: Int

    /// Makes the list; nil when there are none.
    init?(_ errors: [StatusError]) {
        guard !errors.isEmpty else { return nil }
        shown = errors.prefix(Self.limit).map(DamagedFile.init)
        count = errors.count
    }

    private static let limit = 50
}

extension DamagedFiles: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "files": shown
        case "isOne": count == 1
        case "more": count > shown.count ? Counting.grouped(count - shown.count) : Absent()
        default: nil
        }
    }
}
