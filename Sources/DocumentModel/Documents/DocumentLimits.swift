/// Firestore's limits on documents and names.
public enum DocumentLimits {
    /// The largest size of a document, by ``Document/size(of:at:)``.
    public static let maximumDocumentBytes = 1_048_576
    /// How many maps and arrays may stand inside each other in a field; the field's own value is level 1.
    public static let maximumDepth = 20
    /// The longest collection id, document id or field name.
    public static let maximumNameBytes = 1_500
    /// The longest document or collection path, relative to the database.
    public static let maximumPathBytes = 6 * 1_024
    /// The longest field path: its names and one byte for each dot between them.
    public static let maximumFieldPathBytes = 1_500
    /// How many collections may stand in a path.
    public static let maximumSubcollectionDepth = 100
    /// The longest string or bytes value: 1 MiB less 89 bytes.
    public static let maximumValueBytes = 1_048_487
    /// How much of a string or bytes value queries see. Longer ones that begin alike are equal to filters, orders and cursors.
    public static let queriedValueBytes = 1_500
    /// How many numbers a vector may hold.
    public static let maximumVectorDimensions = 2_048
}
