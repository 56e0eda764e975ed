internal import StrictJSON

extension FieldPath {
    /// `__name__`, which in queries stands for the document's own path, as a reference value.
    package static let documentName = FieldPath(unchecked: ["__name__"])

    /// Whether it stands for the document's own path.
    package var isDocumentName: Bool { self == .documentName }

    /// Checks that a query may name this: a field that documents may have, or the document's name.
    func validateInQuery() throws(StatusError) {
        if !isDocumentName { try validate() }
    }
}

extension MapValue {
    /// The value of a field of the document at `path`, whose name is a field here.
    func value(of field: FieldPath, ofDocumentAt path: DocumentPath) -> Value? {
        field.isDocumentName ? .reference(path) : self[field]
    }
}
