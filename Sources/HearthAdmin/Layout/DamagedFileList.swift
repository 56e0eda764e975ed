import DocumentModel

/// The files and folders that can't be read as documents or collections, up to the number that a page shows.
struct DamagedFileList: Sendable {
    private let shown: [DamagedFileView]
    private let count: Int

    /// Creates the list; returns nil when there are no errors.
    init?(_ errors: [StatusError]) {
        guard !errors.isEmpty else { return nil }
        shown = errors.prefix(Self.limit).map(DamagedFileView.init)
        count = errors.count
    }

    private static let limit = 50
}

extension DamagedFileList: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "files": shown
        case "isOne": count == 1
        case "hiddenCount": count > shown.count ? NumberFormat.grouped(count - shown.count) : Absent()
        default: nil
        }
    }
}
