internal import DocumentModel
internal import Logging

/// The definitions of an open data folder, which change only with their file.
struct StoredIndexDefinitions {
    /// The definitions; none where the file can't be read.
    private(set) var value = IndexDefinitions()
    private let data: DataFolder
    /// Why the file can't be read.
    private let fault: StatusError?

    init(_ data: DataFolder, logger: Logger) {
        self.data = data
        do throws(StatusError) {
            if let bytes = try data.contents(ofFile: IndexDefinitions.fileName) { value = try IndexDefinitions(bytes) }
            fault = nil
        } catch {
            logger.error(
                "What is indexed of several fields, and which fields are not, can't be read; queries go without",
                metadata: ["error": "\(error)", "file.path": "\(IndexDefinitions.fileName)"]
            )
            fault = error
        }
    }

    /// The definitions after a change, which are on disk when this returns.
    func applying(_ change: IndexChange) throws(StatusError) -> StoredIndexDefinitions {
        if let fault { throw fault }
        var changed = self
        try changed.value.apply(change)
        try data.replaceFile(IndexDefinitions.fileName, with: changed.value.encoded())
        return changed
    }
}
