internal import StrictJSON

/// The document file format: human-readable JSON that can be edited and diffed.
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
/// Fields are sorted by the bytes of their names, one per line, with values in their JSON representation. A map or array
/// that would make its line longer than 100 columns is broken into one member or element per line. `$document` comes last
/// and contains the metadata. Equal documents have equal files, and a change to one field changes only the lines of that
/// field and of the update time.
///
/// Decoding accepts any layout and order of members. `$document` with both times is required; a file without it is not a
/// complete document file, and the error says what to add. If a field name begins with `$`, all fields are in `"$map"`.
public enum DocumentFile {
    /// Encodes a document.
    ///
    /// - Parameter storesID: True to store the ID in the file, for a document whose ID doesn't fit in the file name.
    public static func encode(_ document: Document, storesID: Bool) -> [UInt8] {
        encode(EncodedDocument(document), storesID: storesID)
    }

    /// Formats an encoded document without decoding its fields.
    ///
    /// - Parameter storesID: True to store the ID in the file, for a document whose ID doesn't fit in the file name.
    public static func encode(_ document: EncodedDocument, storesID: Bool) -> [UInt8] {
        let metadata = DocumentFileMetadata(of: document, storesID: storesID)
        return DocumentFileFormatter.bytes(ofFields: document.fieldsJSON, metadata: metadata.members)
    }

    /// Decodes a document from its file.
    ///
    /// Validates the JSON, the representation of every value, the metadata, and the document limits.
    ///
    /// - Parameters:
    ///   - bytes: The contents of the file.
    ///   - collection: The collection of the folder that contains the file.
    ///   - id: The ID encoded in the file name, or `nil` if only the file contains it.
    ///   - file: The path of the file relative to the data folder, evaluated only for an error.
    /// - Throws: ``StatusCode/dataLoss`` with the line and column in the file, and the field, if any.
    public static func decode(
        _ bytes: [UInt8],
        in collection: CollectionPath,
        id: DocumentPath.ID?,
        file: @autoclosure () -> String
    ) throws(StatusError) -> Document {
        try DocumentFileReader(collection: collection, id: id).document(in: bytes, file: file)
    }

    /// Decodes and validates a document from its file, as ``decode(_:in:id:file:)`` does, and returns it encoded.
    ///
    /// - Throws: ``StatusCode/dataLoss`` with the line and column in the file, and the field, if any.
    public static func decodeEncoded(
        _ bytes: [UInt8],
        in collection: CollectionPath,
        id: DocumentPath.ID?,
        file: @autoclosure () -> String
    ) throws(StatusError) -> EncodedDocument {
        EncodedDocument(try decode(bytes, in: collection, id: id, file: file()))
    }
}

extension DocumentFile {
    /// The contents of a file that may have been written by hand.
    package struct Contents: Sendable {
        /// The document's path.
        package let path: DocumentPath
        /// The fields.
        package let fields: MapValue
        /// The times in `$document`; `nil` without it.
        package let times: (create: Timestamp, update: Timestamp)?
    }

    /// Decodes the contents of a file in which `$document` may be missing, unless it has to state the ID.
    ///
    /// Otherwise validates it as ``decode(_:in:id:file:)`` does.
    ///
    /// - Throws: ``StatusCode/dataLoss`` with the line and column in the file, and the field, if any.
    package static func decodeContents(
        _ bytes: [UInt8],
        in collection: CollectionPath,
        id: DocumentPath.ID?,
        file: @autoclosure () -> String
    ) throws(StatusError) -> Contents {
        try DocumentFileReader(collection: collection, id: id).contents(in: bytes, file: file)
    }
}

extension DocumentFile {
    /// The limits on the JSON of a file: the maximum length, so that any file that was written can be read, and a depth that
    /// allows 20 levels of tagged maps.
    static let limits = JSONLimits(maximumBytes: JSONLimits.maximumTextBytes, maximumDepth: 64)
}
