internal import DocumentModel

/// What stands for a field's value in a write, when the server is to compute it or to delete the field.
public struct FieldValue: Hashable, Sendable {
    let kind: Kind
    /// What the references in it belong to.
    let origins: [Firestore]

    enum Kind: Hashable, Sendable {
        case delete
        case transform(FieldTransform.Operation)
        /// The elements can't be in a document; the write that they are given to fails.
        case invalid(String)
    }

    private init(_ kind: Kind, origins: [Firestore] = []) {
        self.kind = kind
        self.origins = origins
    }

    /// Deletes the field, in `updateData` and merging `setData`.
    public static func delete() -> FieldValue {
        FieldValue(.delete)
    }

    /// The time of the write.
    public static func serverTimestamp() -> FieldValue {
        FieldValue(.transform(.serverTimestamp))
    }

    /// The array with those of the elements added at its end that are not in it.
    public static func arrayUnion(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayUnion)
    }

    /// The array without any of the elements.
    public static func arrayRemove(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayRemove)
    }

    private static func array(_ elements: [Any], _ operation: ([Value]) -> FieldTransform.Operation) -> FieldValue {
        var reader = DictionaryReader(permitsSentinels: false)
        do {
            let values = try reader.values(elements)
            return FieldValue(.transform(operation(values)), origins: reader.origins)
        } catch {
            return FieldValue(.invalid(error.message))
        }
    }
}

extension FieldValue {
    /// The field plus a number; the number, when the field is none.
    public static func increment(_ number: Double) -> FieldValue {
        FieldValue(.transform(.increment(.double(number))))
    }

    /// The field plus a number; the number, when the field is none.
    public static func increment(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.increment(.integer(number))))
    }

    /// The field plus a number; the number, when the field is none.
    public static func increment(_ number: Int) -> FieldValue {
        increment(Int64(number))
    }

    /// The greater of the field and a number.
    public static func maximum(_ number: Double) -> FieldValue {
        FieldValue(.transform(.maximum(.double(number))))
    }

    /// The greater of the field and a number.
    public static func maximum(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.maximum(.integer(number))))
    }

    /// The greater of the field and a number.
    public static func maximum(_ number: Int) -> FieldValue {
        maximum(Int64(number))
    }

    /// The lesser of the field and a number.
    public static func minimum(_ number: Double) -> FieldValue {
        FieldValue(.transform(.minimum(.double(number))))
    }

    /// The lesser of the field and a number.
    public static func minimum(_ number: Int64) -> FieldValue {
        FieldValue(.transform(.minimum(.integer(number))))
    }

    /// The lesser of the field and a number.
    public static func minimum(_ number: Int) -> FieldValue {
        minimum(Int64(number))
    }

    /// A vector; it is a value like any other.
    public static func vector(_ array: [Double]) -> VectorValue {
        VectorValue(array)
    }

    /// A vector; it is a value like any other.
    public static func vector(_ array: [Float]) -> VectorValue {
        VectorValue(array.map(Double.init))
    }
}

extension FieldValue: Encodable {
    /// Always throws: ``Firestore/Encoder`` takes these values as they are, and other encoders can do nothing with them.
    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported("FieldValue can only be encoded by Firestore.Encoder.")
    }
}
