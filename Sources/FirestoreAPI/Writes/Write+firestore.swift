package import DocumentModel
package import FirestoreMessages

/// A document in a request. Its create and update times are ignored.
package struct DocumentMessage: Sendable {
    /// The path, or `nil` if the message has no name.
    package let path: DocumentPath?
    package let fields: MapValue

    /// Creates a document.
    ///
    /// - Parameter name: The resource name; empty for a document without one.
    package init(name: String, _ fields: MapValue, in database: DatabaseName) throws(StatusError) {
        path =
            try name.utf8.isEmpty
            ? nil : StatusError.locating(in: "name") { () throws(StatusError) in try database.document(named: name) }
        self.fields = fields
    }
}

extension Write {
    /// The operation of a `Write` message.
    package enum MessageOperation: Sendable {
        case update(DocumentMessage)
        case delete(DocumentPath)
        case transform(DocumentPath?, [FieldTransform])
        case verify(DocumentPath)
    }

    /// Creates a write from the parts of a message. The contents are not validated; see ``validate()``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the operation or its document is absent.
    package init(
        _ operation: MessageOperation?,
        mask: [FieldPath]?,
        transforms: [FieldTransform],
        precondition: Precondition
    ) throws(StatusError) {
        switch operation {
        case .update(let document)?:
            guard let path = document.path else {
                throw StatusError(.invalidArgument, "name is required in a document.").prefixingPath(with: "update")
            }
            self.init(path, document.fields, mask: mask)
        case .delete(let path)?:
            self.init(path: path, operation: .delete)
        case .transform(let path?, let transforms)?:
            self.init(path: path, operation: .patch(MapValue(), mask: []), transforms: transforms)
        case .transform(nil, _)?:
            throw StatusError(.invalidArgument, "document is required in a transform.").prefixingPath(with: "transform")
        case .verify(let path)?:
            self.init(path: path, operation: .verify)
        case nil:
            throw StatusError(.invalidArgument, "Expected one of update, delete, transform and verify, found none.")
        }
        self.transforms += transforms
        self.precondition = precondition
    }

    /// Creates a write that replaces a document, or updates the fields in a mask.
    package init(_ path: DocumentPath, _ fields: MapValue, mask: [FieldPath]?) {
        self.init(path: path, operation: mask.map { .patch(fields, mask: $0) } ?? .replace(fields))
    }

    /// Validates the document, its fields and transforms.
    package func validate() throws(StatusError) {
        switch operation {
        case .replace(let fields): try Document.validate(fields, at: path)
        case .patch(let fields, let mask):
            try fields.validate()
            for field in mask { try field.validate() }
        case .delete, .verify: break
        }
        for transform in transforms { try transform.validate() }
    }
}

extension FieldTransform {
    /// Creates a transform from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if one is absent.
    package init(field: FieldPath?, operation: Operation?) throws(StatusError) {
        guard let field else { throw StatusError(.invalidArgument, "fieldPath is required in a transform.") }
        guard let operation else {
            throw StatusError(
                .invalidArgument,
                "Expected one of setToServerValue, increment, maximum, minimum, appendMissingElements, removeAllFromArray, "
                    + "found none.",
                field: field.description
            )
        }
        self.init(field: field, operation: operation)
    }

    /// The values that `setToServerValue` can have.
    package static let serverValues = ProtoEnumeration<Operation>([(1, "REQUEST_TIME", .serverTimestamp)])

    /// Validates the field path and the operand.
    fileprivate func validate() throws(StatusError) {
        try field.validate()
        switch operation {
        case .arrayUnion(let elements), .arrayRemove(let elements):
            for element in elements { try element.validateAsElement(ofArrayAt: field) }
        case .serverTimestamp, .increment, .maximum, .minimum:
            try validateOperand()
        }
    }
}
