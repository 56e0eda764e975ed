/// A document: where it is, what it holds, and since when.
public struct Document: Hashable, Sendable {
    /// Where the document is.
    public var path: DocumentPath
    /// What it holds.
    public var fields: MapValue
    /// The commit time of the write that created it; overwriting keeps it, recreating does not.
    public var createTime: Timestamp
    /// The commit time of the last write that changed it.
    public var updateTime: Timestamp

    /// Makes a document; nothing is checked, see ``validate(_:at:)``.
    public init(path: DocumentPath, fields: MapValue, createTime: Timestamp, updateTime: Timestamp) {
        self.path = path
        self.fields = fields
        self.createTime = createTime
        self.updateTime = updateTime
    }
}
