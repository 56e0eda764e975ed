internal import DocumentModel
internal import DocumentStore
internal import Logging

/// The index definitions of an open database, in memory and on disk.
struct IndexDefinitionsFile {
    /// The definitions; empty when the file cannot be read.
    private(set) var value = IndexDefinitions()
    private let folder: any IndexFolder
    /// The reason why the file cannot be read.
    private let readError: StatusError?

    /// The maximum size of the file.
    private static let maximumBytes = 16 << 20

    init(in folder: any IndexFolder, logger: Logger) {
        self.folder = folder
        do throws(StatusError) {
            let bytes = try folder.contents(ofFile: IndexDefinitions.fileName, maximumBytes: Self.maximumBytes)
            if let bytes { value = try IndexDefinitions(bytes) }
            readError = nil
        } catch {
            logger.error(
                "The index definitions cannot be read; queries run without composite indexes",
                metadata: ["error": "\(error)", "file.path": "\(IndexDefinitions.fileName)"]
            )
            readError = error
        }
    }

    /// Returns the definitions with a change applied. They are durable when this returns.
    ///
    /// - Throws: The read error if the file is damaged, so that it is never overwritten.
    func applying(_ change: IndexChange) throws(StatusError) -> IndexDefinitionsFile {
        if let readError { throw readError }
        var changed = self
        try changed.value.apply(change)
        try folder.replaceFile(IndexDefinitions.fileName, with: changed.value.encoded())
        return changed
    }

    /// Returns the file with other definitions. They are durable when this returns.
    func replaced(by definitions: IndexDefinitions) throws(StatusError) -> IndexDefinitionsFile {
        try folder.replaceFile(IndexDefinitions.fileName, with: definitions.encoded())
        var changed = self
        changed.value = definitions
        return changed
    }
}
