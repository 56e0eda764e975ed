/// A write to one document in a commit, like Firestore's `Write` message.
///
/// Create one with ``set(_:_:merge:delete:transforms:precondition:)``, ``create(_:_:transforms:)``,
/// ``update(_:_:delete:transforms:precondition:)`` or ``delete(_:precondition:)``, which validate everything that doesn't depend
/// on the current document. ``applied(to:at:)`` computes the result.
public struct Write: Sendable, Hashable {
    /// The document to write.
    public var path: DocumentPath
    /// The operation on its fields.
    public var operation: Operation
    /// The field transforms, applied afterward in order.
    public var transforms: [FieldTransform]
    /// The condition on the current document.
    public var precondition: Precondition

    /// Creates a write from its parts, without validating them.
    public init(
        path: DocumentPath,
        operation: Operation,
        transforms: [FieldTransform] = [],
        precondition: Precondition = .none
    ) {
        self.path = path
        self.operation = operation
        self.transforms = transforms
        self.precondition = precondition
    }

    /// The operation of a write before its transforms.
    public enum Operation: Sendable, Hashable {
        /// Replaces all fields. Creates the document if it doesn't exist.
        case replace(MapValue)
        /// Sets each field of the mask to its value in the map, or deletes it if the map has none. Other fields are unchanged.
        /// Creates the document if it doesn't exist. Order and duplicates in the mask have no effect.
        case patch(MapValue, mask: [FieldPath])
        /// Deletes the document.
        case delete
        /// Changes nothing: only checks the precondition, for a document that a transaction has read but doesn't write.
        case verify

        /// True if the write stores the document, and creates it if it doesn't exist.
        package var storesDocument: Bool {
            switch self {
            case .replace, .patch: true
            case .delete, .verify: false
            }
        }
    }

    /// The existing fields that ``set(_:_:merge:delete:transforms:precondition:)`` keeps.
    public enum Merge: Sendable, Hashable {
        /// None: the write replaces the document.
        case none
        /// All fields that are not in the data, in maps at any depth. Empty maps and arrays replace existing values.
        case all
        /// All fields except these, which must be in the data.
        case fields([FieldPath])
    }
}

/// The result of a write.
public struct WriteResult: Sendable, Hashable {
    /// The document's update time: the commit time, or an earlier time if the write changed nothing; `nil` if the document doesn't
    /// exist afterward.
    public var updateTime: Timestamp?
    /// The result of each transform, in order: the field's new value, or null for array transforms.
    public var transformResults: [Value]

    /// Creates a result from its parts.
    public init(updateTime: Timestamp?, transformResults: [Value] = []) {
        self.updateTime = updateTime
        self.transformResults = transformResults
    }
}
