internal import DocumentModel
internal import QueryEngine

extension EngineIndex {
    func forEachVector(
        _ target: IndexTarget,
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws(StatusError) {
        let ancestor = target.parent.map { NameKey($0).bytes }
        let slot = IndexEntries.slot(field: fields.id(field), kind: .value)
        for space in EntrySpace.spaces(of: target, slot: slot) {
            var last: IndexScan.Position?
            while true {
                try checkCancellation()
                let page = try space.vectors(after: last, limit: Self.vectorPageCount, in: rows)
                for (_, name, vector) in page where ancestor.map({ name.starts(with: $0) }) ?? true {
                    let result = name.withUnsafeBytes { name in
                        vector.withUnsafeBytes { vector in
                            Result { () throws(StatusError) in try body(IndexVector(name: name, stored: vector)) }
                        }
                    }
                    guard try result.get() else { return }
                }
                guard page.count == Self.vectorPageCount else { break }
                last = page.last?.position
            }
        }
    }

    func vectorLookup(_ target: IndexTarget, _ field: FieldPath) throws(StatusError) -> any IndexVectorLookup {
        DocumentVectorLookup(self, field, pathPrefix: target.namePrefix)
    }

    /// The number of vectors that are read together.
    private static let vectorPageCount = 512
}

extension IndexVector {
    /// Decodes a vector in `entries`: 1 if it is exact, or 0, and its components.
    fileprivate init(name: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer) {
        self.init(name: name, bytes: UnsafeRawBufferPointer(rebasing: stored.dropFirst()), isExact: stored.first == 1)
    }
}

/// A lookup of vectors in the documents, which come in batches.
private final class DocumentVectorLookup: IndexVectorLookup {
    private let index: EngineIndex
    private let field: FieldPath
    private let pathPrefix: [UInt8]

    init(_ index: EngineIndex, _ field: FieldPath, pathPrefix: [UInt8]) {
        self.index = index
        self.field = field
        self.pathPrefix = pathPrefix
    }

    func withVector(of name: [UInt8], _ body: (IndexVector) throws(StatusError) -> Void) throws(StatusError) {
        guard let path = DocumentPath(nameKey: pathPrefix + name), let document = try index.document(at: path),
            case .vector(let vector)? = try document.decoded().fields[field]
        else { return }
        let packed = PackedVector(vector)
        let result = name.withUnsafeBytes { name in
            packed.bytes.withUnsafeBytes { bytes in
                Result { () throws(StatusError) in try body(IndexVector(name: name, bytes: bytes, isExact: packed.isExact)) }
            }
        }
        try result.get()
    }
}
