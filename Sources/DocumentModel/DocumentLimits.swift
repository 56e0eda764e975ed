/// Firestore's limits on documents and names.
public enum DocumentLimits {
    /// The maximum document size, computed by ``Document/size(of:at:)``.
    public static let maximumDocumentBytes = 1_048_576
    /// The maximum nesting depth of maps and arrays in a field; the field's own value is level 1.
    public static let maximumDepth = 20
    /// The maximum length of a collection ID, document ID or field name, in bytes.
    public static let maximumNameBytes = 1_500
    /// The maximum length of a document or collection path, relative to the database, in bytes.
    public static let maximumPathBytes = 6 * 1_024
    /// The maximum length of a field path, in bytes: its names, and one byte for each separating dot.
    public static let maximumFieldPathBytes = 1_500
    /// The maximum number of collections in a path.
    public static let maximumSubcollectionDepth = 100
    /// The maximum length of a string or bytes value: 1 MiB minus 89 bytes.
    public static let maximumValueBytes = 1_048_487
    /// The number of leading bytes of a string or bytes value that queries compare and indexes store. Longer values with the
    /// same prefix are equal in filters, orders and cursors.
    public static let indexedValueBytes = 1_500
    /// The maximum number of dimensions of a vector.
    public static let maximumVectorDimensions = 2_048
}
