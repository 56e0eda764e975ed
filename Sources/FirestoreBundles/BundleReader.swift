package import DocumentModel
internal import FirestoreMessages
internal import StrictJSON
package import SyncEngine
internal import UTF8Text

/// A reader of a bundle in Firestore's format: a sequence of elements, each its length in bytes, in decimal digits, and a JSON object.
///
/// The first element has the properties of the bundle. A document follows the element with its metadata.
package struct BundleReader: Sendable {
    /// The properties of the bundle; `nil` before the first element.
    package private(set) var metadata: BundleMetadata?
    /// The number of documents so far, absent ones included.
    package private(set) var documentCount = 0
    /// The size in bytes of the elements so far, without the first one.
    package private(set) var byteCount = 0

    private var buffer: [UInt8] = []
    /// The index of the next element in the buffer.
    private var position = 0
    /// The offset of the next element in the bundle.
    private var offset = 0
    private var elementCount = 0
    private var queries: [BundledQuery] = []
    private var documents: [BundledDocument] = []
    private var paths: Set<DocumentPath> = []
    /// The metadata of the document that follows.
    private var pendingMetadata: DocumentMetadata?

    /// Creates a reader.
    package init() {}

    /// Adds bytes.
    package mutating func append(_ bytes: [UInt8]) {
        buffer.removeFirst(position)
        position = 0
        if buffer.isEmpty { buffer = bytes } else { buffer += bytes }
    }

    /// Reads the next element.
    ///
    /// - Returns: False if more bytes are needed.
    /// - Throws: ``StatusCode/invalidArgument`` with the number and the offset of a malformed element.
    package mutating func readElement() throws(StatusError) -> Bool {
        do throws(StatusError) {
            guard let element = try nextElement() else { return false }
            try add(BundleElement(buffer[element]), byteCount: element.upperBound - position)
            offset += element.upperBound - position
            position = element.upperBound
            elementCount += 1
            return true
        } catch {
            throw located(error)
        }
    }

    /// Returns the bundle, all of which has been added.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if it is incomplete.
    package func finish() throws(StatusError) -> DocumentBundle {
        guard position == buffer.count else {
            throw located(StatusError(.invalidArgument, "Expected a whole element, found the end of the bundle."))
        }
        guard let metadata else { throw StatusError(.invalidArgument, "Expected a bundle, found no bytes.") }
        guard pendingMetadata == nil else {
            throw located(StatusError(.invalidArgument, "Expected a document, found the end of the bundle."))
        }
        guard documentCount == metadata.documentCount else {
            throw StatusError(
                .invalidArgument,
                "Expected a bundle with \(metadata.documentCount) documents as its metadata says, found \(documentCount)."
            )
        }
        return DocumentBundle(metadata: metadata, queries: queries, documents: documents)
    }
}

extension BundleReader {
    /// The maximum number of digits of a length.
    private static let maximumDigitCount = 9

    /// Returns the range of the next element's JSON in the buffer; `nil` if it is not complete.
    private func nextElement() throws(StatusError) -> Range<Int>? {
        let digits = buffer[position...].prefix(Self.maximumDigitCount + 1).prefix { (0x30...0x39).contains($0) }
        let isTerminated = digits.endIndex < buffer.endIndex
        guard digits.count <= Self.maximumDigitCount, !digits.isEmpty || !isTerminated else {
            let found = Excerpt(String(decoding: buffer[position...].prefix(16), as: UTF8.self))
            throw StatusError(.invalidArgument, "Expected the length of an element, in decimal digits, found \(found).")
        }
        guard isTerminated, let length = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        guard length <= JSONLimits.message.maximumBytes else {
            throw StatusError(
                .invalidArgument,
                "Expected an element of at most \(JSONLimits.message.maximumBytes) bytes, found \(length)."
            )
        }
        let end = digits.endIndex + length
        return end <= buffer.count ? digits.endIndex..<end : nil
    }

    private mutating func add(_ element: BundleElement, byteCount: Int) throws(StatusError) {
        if let pendingMetadata {
            guard case .document(let document) = element, document.path == pendingMetadata.path else {
                throw StatusError(.invalidArgument, "Expected the document \(pendingMetadata.path.string) after its metadata.")
            }
            try add(document, pendingMetadata)
            self.pendingMetadata = nil
        } else {
            guard (metadata == nil) == element.isMetadata else {
                let expectation = metadata == nil ? "the metadata of the bundle" : "an element after the metadata of the bundle"
                throw StatusError(.invalidArgument, "Expected \(expectation), found \(element.name).")
            }
            switch element {
            case .metadata(let metadata):
                self.metadata = metadata
                return
            case .namedQuery(let query):
                queries.append(query)
            case .documentMetadata(let metadata) where metadata.exists:
                pendingMetadata = metadata
            case .documentMetadata(let metadata):
                try add(RemoteDocument(path: metadata.path, content: .missing, version: metadata.readTime), metadata)
            case .document(let document):
                throw StatusError(.invalidArgument, "Expected the metadata of \(document.path.string) before the document.")
            }
        }
        self.byteCount += byteCount
    }

    private mutating func add(_ document: RemoteDocument, _ metadata: DocumentMetadata) throws(StatusError) {
        guard paths.insert(document.path).inserted else {
            throw StatusError(.invalidArgument, "Expected \(document.path.string) once, found it twice.")
        }
        documents.append(BundledDocument(document, queries: metadata.queries))
        documentCount += 1
    }

    private func located(_ error: StatusError) -> StatusError {
        StatusError(
            error.code,
            "Malformed bundle, in element \(elementCount + 1) at byte \(offset): \(error.messageWithLocation)",
            path: error.path
        )
    }
}
