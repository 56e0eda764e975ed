internal import StrictJSON

/// The form of a document's file: JSON that a person can read, edit and compare.
///
/// ```
/// {
///   "author": "Douglas Adams",
///   "location": {"$geoPoint": {"latitude": 53.553986, "longitude": 9.9856482}},
///   "numberOfPages": 816,
///   "$document": {
///     "createTime": "2014-09-09T08:00:47.000000Z",
///     "updateTime": "2014-09-09T08:00:47.000000Z"
///   }
/// }
/// ```
///
/// The fields come in the order of their names' bytes, one on a line, in the JSON form of values. A map or array that
/// makes its line longer than 100 columns stands on several lines, one member or element on each. `$document` comes last
/// and holds the metadata. Equal documents have equal bytes, and a change of one field changes the lines of that field
/// and of the update time only.
///
/// A file is read in whatever layout and order an editor has left it. It must have `$document` with both times: without
/// them it is no document's file, or no longer a whole one, and the error says what to add. Fields of which a name begins
/// with `$` stand together in `"$map"`.
public enum DocumentFile {
    /// Encodes a document.
    ///
    /// - Parameter storesID: Whether the id goes into the file, for a file whose name could not hold it.
    public static func encode(_ document: Document, storesID: Bool) -> [UInt8] {
        encode(EncodedDocument(document), storesID: storesID)
    }

    /// Lays out a document that is encoded already; the fields' values are not decoded for that.
    ///
    /// - Parameter storesID: Whether the id goes into the file, for a file whose name could not hold it.
    public static func encode(_ document: EncodedDocument, storesID: Bool) -> [UInt8] {
        let metadata = DocumentFileMetadata(of: document, storesID: storesID)
        return DocumentFileLayout.bytes(ofFields: document.fieldsJSON, metadata: metadata)
    }

    /// Reads a document from its file.
    ///
    /// Everything is checked: the JSON, the form of every value, the metadata, and the rules for documents.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - collection: The collection whose folder the file is in.
    ///   - id: The id that the file's name stands for, or nil when only the file itself can tell.
    ///   - file: The file's path relative to the data folder, for the error.
    /// - Throws: ``StatusCode/dataLoss`` with the line and column in the file and the field, if one is at fault.
    public static func decode(
        _ bytes: [UInt8],
        in collection: CollectionPath,
        id: DocumentID?,
        file: String
    ) throws(StatusError) -> Document {
        try DocumentFileReader(collection: collection, id: id, file: file).document(in: bytes)
    }

    /// Reads a document from its file like ``decode(_:in:id:file:)``, with all its checks, as the store serves it.
    ///
    /// - Throws: ``StatusCode/dataLoss`` with the line and column in the file and the field, if one is at fault.
    public static func decodeEncoded(
        _ bytes: [UInt8],
        in collection: CollectionPath,
        id: DocumentID?,
        file: String
    ) throws(StatusError) -> EncodedDocument {
        EncodedDocument(try decode(bytes, in: collection, id: id, file: file))
    }
}

extension DocumentFile {
    /// What a file may be: as long as the reader can count, so that whatever could be written can be read, and deep enough
    /// for 20 levels of maps with a tag each.
    static let limits = JSONLimits(maximumBytes: JSONLimits.largestText, maximumDepth: 64)
}
