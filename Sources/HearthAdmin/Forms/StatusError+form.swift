import DocumentModel

extension StatusError {
    /// What it says, with the field that it is about.
    var forForm: String {
        field.map { "\($0): \(message)" } ?? message
    }
}
