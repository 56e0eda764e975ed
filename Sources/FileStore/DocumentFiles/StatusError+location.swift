internal import DocumentModel
internal import UTF8Text

extension StatusError {
    /// Returns the error with a file path and a document or collection path, unless it already has them.
    func withLocation(filePath: String, path: String?) -> StatusError {
        var error = self
        error.file = file ?? FileLocation(path: filePath)
        error.path = self.path ?? path
        return error
    }
}

extension [StatusError] {
    /// Sorts the errors by file path, so that lists are deterministic.
    mutating func sortByFilePath() {
        sort { UTF8Key($0.file?.path ?? "") < UTF8Key($1.file?.path ?? "") }
    }
}
