internal import DocumentModel

/// A sentinel value that deletes a field or has the server compute its value.
public struct FieldValue: Hashable, Sendable {
    let kind: Kind
    /// The databases of the references in the operand.
    let databases: [Firestore]

    enum Kind: Hashable, Sendable {
        case delete
        case transform(FieldTransform.Operation)
        /// The operand contains a value that a document cannot contain: the write fails.
        case invalid(String)
    }

    private init(_ kind: Kind, databases: [Firestore] = []) {
        self.kind = kind
        self.databases = databases
    }

    /// Returns a sentinel that deletes the field, for `updateData` and `setData` with merge.
    public static func delete() -> FieldValue {
        FieldValue(.delete)
    }

    /// Returns a sentinel that sets the field to the commit time, truncated to milliseconds.
    public static func serverTimestamp() -> FieldValue {
        FieldValue(.transform(.serverTimestamp))
    }

    /// Returns a sentinel that appends the elements that the array doesn't contain.
    public static func arrayUnion(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayUnion)
    }

    /// Returns a sentinel that removes all occurrences of the elements from the array.
    public static func arrayRemove(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayRemove)
    }

    private static func array(_ elements: [Any], _ operation: ([Value]) -> FieldTransform.Operation) -> FieldValue {
        var reader = UserDataReader(allowsSentinels: false)
        do {
            let values = try reader.values(elements)
            return FieldValue(.transform(operation(values)), databases: reader.databases)
        } catch {
            return FieldValue(.invalid(error.message))
        }
    }
}

extension FieldValue {
    /// Returns a sentinel that increments the field, or sets it if it isn't a number.
    public static func increment(_ number: Double) -> FieldValue {
        FieldValue(.transform(.increment(.double(number))))
    }

    /// Returns a sentinel that increments the field, or sets it if it isn't a number.
    public static func increment(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.increment(.integer(number))))
    }

    /// Returns a sentinel that increments the field, or sets it if it isn't a number.
    public static func increment(_ number: Int) -> FieldValue {
        increment(Int64(number))
    }

    /// Returns a sentinel that sets the field to the maximum of its value and a number.
    public static func maximum(_ number: Double) -> FieldValue {
        FieldValue(.transform(.maximum(.double(number))))
    }

    /// Returns a sentinel that sets the field to the maximum of its value and a number.
    public static func maximum(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.maximum(.integer(number))))
    }

    /// Returns a sentinel that sets the field to the maximum of its value and a number.
    public static func maximum(_ number: Int) -> FieldValue {
        maximum(Int64(number))
    }

    /// Returns a sentinel that sets the field to the minimum of its value and a number.
    public static func minimum(_ number: Double) -> FieldValue {
        FieldValue(.transform(.minimum(.double(number))))
    }

    /// Returns a sentinel that sets the field to the minimum of its value and a number.
    public static func minimum(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.minimum(.integer(number))))
    }

    /// Returns a sentinel that sets the field to the minimum of its value and a number.
    public static func minimum(_ number: Int) -> FieldValue {
        minimum(Int64(number))
    }

    /// Returns a vector value.
    public static func vector(_ array: [Double]) -> VectorValue {
        VectorValue(array)
    }

    /// Returns a vector value.
    public static func vector(_ array: [Float]) -> VectorValue {
        VectorValue(array.map(Double.init))
    }
}

extension FieldValue: Encodable {
    /// Always throws: only ``Firestore/Encoder`` supports sentinels.
    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported("FieldValue can only be encoded by Firestore.Encoder.")
    }
}
