/// A document: its path, fields, create time and update time.
public struct Document: Hashable, Sendable {
    /// The path of the document.
    public var path: DocumentPath
    /// The fields.
    public var fields: MapValue
    /// The commit time of the write that created the document. Overwriting keeps it; deleting and recreating does not.
    public var createTime: Timestamp
    /// The commit time of the last write that changed the document.
    public var updateTime: Timestamp

    /// Creates a document without validating it; see ``validate(_:at:)``.
    public init(path: DocumentPath, fields: MapValue, createTime: Timestamp, updateTime: Timestamp) {
        self.path = path
        self.fields = fields
        self.createTime = createTime
        self.updateTime = updateTime
    }
}
