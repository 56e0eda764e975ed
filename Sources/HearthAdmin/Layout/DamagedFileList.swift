import DocumentModel

/// The files and folders that cannot be read as documents or collections, up to the number that a page shows.
struct DamagedFileList: ViewModel {
    private let files: [DamagedFileView]
    private let isOne: Bool
    /// The number of files and folders beyond the limit.
    private let hiddenCount: String?

    /// Creates the list; returns `nil` if there are no errors.
    init?(_ errors: [StatusError]) {
        guard !errors.isEmpty else { return nil }
        files = errors.prefix(Self.limit).map(DamagedFileView.init)
        isOne = errors.count == 1
        hiddenCount = errors.count > files.count ? NumberFormat.grouped(errors.count - files.count) : nil
    }

    private static let limit = 50
}
