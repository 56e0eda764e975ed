internal import UTF8Text

extension FieldPath {
    /// `__name__`, the pseudo-field of a document's path in queries. Its value is a reference.
    package static let documentName = FieldPath(unchecked: ["__name__"])

    /// True if the path is ``documentName``.
    package var isDocumentName: Bool { self == .documentName }

    /// Validates the path as that of a document field, or as ``documentName``.
    func validateInQuery() throws(StatusError) {
        if !isDocumentName { try validate() }
    }
}

extension MapValue {
    /// Returns the value of a field, or a reference to `path` for ``FieldPath/documentName``.
    func value(of field: FieldPath, ofDocumentAt path: DocumentPath) -> Value? {
        field.isDocumentName ? .reference(path) : self[field]
    }
}
