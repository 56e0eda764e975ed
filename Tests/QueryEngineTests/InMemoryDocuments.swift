import DocumentModel
import QueryEngine

/// A reader of in-memory documents, as of a time before or after some of them were changed.
final class InMemoryDocuments: QueryDocuments {
    let time: Timestamp
    private(set) var readCount = 0
    /// The documents as of the time.
    private let documents: [DocumentPath: EncodedDocument]
    /// The paths of the documents that were changed after the time.
    private let changed: Set<DocumentPath>

    init(_ documents: [Document], at time: Timestamp, changed: Set<DocumentPath> = []) {
        self.documents = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, EncodedDocument($0)) })
        self.time = time
        self.changed = changed
    }

    func document(at path: DocumentPath) -> EncodedDocument? {
        readCount += 1
        return documents[path]
    }

    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath] { [] }

    func changedPaths(in source: StructuredQuery.Source) -> [DocumentPath] {
        changed.filter { source.contains($0) }
    }

    func images(ofChanged paths: ArraySlice<DocumentPath>) -> [EncodedDocument] {
        paths.compactMap { documents[$0] }
    }
}
