/// A change of one document, as it goes into a commit: Firestore's `Write` message.
///
/// Make one with ``set(_:_:merge:delete:transforms:precondition:)``, ``create(_:_:transforms:)``,
/// ``update(_:_:delete:transforms:precondition:)`` or ``delete(_:precondition:)``, which check what can be checked without the
/// document; ``applied(to:at:)`` says what it makes of one.
public struct Write: Sendable, Hashable {
    /// The document that changes.
    public var path: DocumentPath
    /// What happens to its fields.
    public var operation: Operation
    /// What happens to single fields afterwards, in order.
    public var transforms: [FieldTransform]
    /// What must be so before.
    public var precondition: Precondition

    /// Makes a write from its parts, without checking them.
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

    /// What a write does before its transforms.
    public enum Operation: Sendable, Hashable {
        /// The document has these fields and no others; it is created if it doesn't exist.
        case replace(MapValue)
        /// Each field of the mask gets its value from the map, or is deleted when the map has none; all others stay. The
        /// document is created if it doesn't exist. The order of the mask doesn't matter, nor does naming a field twice.
        case patch(MapValue, mask: [FieldPath])
        /// The document exists no longer.
        case delete
    }

    /// Which fields of a document ``set(_:_:merge:delete:transforms:precondition:)`` leaves alone.
    public enum Merge: Sendable, Hashable {
        /// None: the document is replaced.
        case none
        /// All that the data doesn't have, in maps at any depth. An empty map and an array replace what is there.
        case all
        /// All but these, which must be in the data.
        case fields([FieldPath])
    }
}

/// What became of a write.
public struct WriteResult: Sendable, Hashable {
    /// When the document was last changed: the commit time, or earlier when the write changed nothing; nil after a delete.
    public var updateTime: Timestamp?
    /// One value for each transform, in order: the field's new value, or null for array transforms.
    public var transformResults: [Value]

    /// Makes a result from its parts.
    public init(updateTime: Timestamp?, transformResults: [Value] = []) {
        self.updateTime = updateTime
        self.transformResults = transformResults
    }
}
