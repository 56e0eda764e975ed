import DocumentModel
import HearthService
import StrictJSON

// NDJSON.
extension ImportReader {
    mutating func forEachLine(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var lines = LineSplitter(maximumBytes: DocumentLine.maximumBytes)
        var (part, number) = (first, 0)
        while !part.isEmpty {
            lines.append(part)
            while let line = lines.next() {
                number += 1
                guard try await take(line, number, body) else { return }
            }
            guard let next = try await next(at: number + 1, body) else { return }
            part = next
        }
        if let line = lines.finish() { _ = try await take(line, number + 1, body) }
    }

    private func take(_ line: LineSplitter.Line, _ number: Int, _ body: Body) async throws(StatusError) -> Bool {
        switch line {
        case .complete(let text):
            guard text.contains(where: { $0 > UInt8(ascii: " ") }) else { return true }
            return try await body(
                entry(.init(line: number, bytes: text)) { json throws(StatusError) in try plan.document(json) }
            )
        case .overlong(let byteCount):
            let error = StatusError(
                .invalidArgument,
                "The line has \(byteCount) bytes, more than \(DocumentLine.maximumBytes). No document is as large."
            )
            return try await body(.failure(.init(line: number, error: error)))
        }
    }

    /// The document of a piece of JSON, or what is wrong with it.
    private func entry(
        _ piece: JSONPieces.Piece,
        _ document: (JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        let json: JSONNode
        do throws(JSONSyntaxError) {
            json = try JSONText(piece.bytes, limits: JSONLimits(maximumBytes: DocumentLine.maximumBytes)).root
        } catch {
            let fault = StatusError(.invalidArgument, "Not JSON: \(error.reason), at column \(error.column).")
            return .failure(.init(line: piece.line + error.line - 1, error: fault))
        }
        return entry(line: piece.line, byteCount: piece.bytes.count) { () throws(StatusError) in try document(json) }
    }
}

// JSON.
extension ImportReader {
    mutating func forEachPiece(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var pieces = JSONPieces()
        // An object may be one document, which is not known before all of it is there.
        var members: [JSONPieces.Piece] = []
        var (memberBytes, part) = (0, first)
        while !part.isEmpty {
            pieces.append(part)
            while let found = pieces.next() {
                guard case .success(let piece) = found else {
                    if case .failure(let fault) = found { _ = try await body(.failure(fault)) }
                    return
                }
                guard pieces.isObject else {
                    let entry = entry(piece) { json throws(StatusError) in try plan.document(json) }
                    guard try await body(entry) else { return }
                    continue
                }
                memberBytes += piece.bytes.count
                members.append(piece)
                // No document is as large.
                guard memberBytes > DocumentLine.maximumBytes else { continue }
                for member in members { guard try await body(self.member(member)) else { return } }
                members = []
            }
            guard let next = try await next(at: pieces.line, body) else { return }
            part = next
        }
        if let fault = pieces.finish() {
            _ = try await body(.failure(fault))
        } else if memberBytes <= DocumentLine.maximumBytes, let document = document(of: members) {
            _ = try await body(entry(document) { json throws(StatusError) in try plan.document(json) })
        } else {
            for member in members { guard try await body(self.member(member)) else { return } }
        }
    }

    /// The document of a member of an object, whose name is the ID.
    private func member(_ piece: JSONPieces.Piece) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        entry(.init(line: piece.line, bytes: Self.object([piece]))) { json throws(StatusError) in
            guard let (id, member) = json.members?.first(where: { _ in true }) else {
                throw StatusError(.invalidArgument, "Expected an ID and fields.")
            }
            let (path, fields) = (try plan.path(id: id.string), try MapValue(json: member))
            try Document.validate(fields, at: path)
            return (path, fields)
        }
    }

    /// The document that an object itself is; nil when its members are documents.
    private func document(of members: [JSONPieces.Piece]) -> JSONPieces.Piece? {
        let bytes = Self.object(members)
        guard let json = try? JSONText(bytes, limits: JSONLimits(maximumBytes: 2 * DocumentLine.maximumBytes)).root,
            json["path"]?.string != nil
        else { return nil }
        return JSONPieces.Piece(line: members.first?.line ?? 1, bytes: bytes)
    }

    private static func object(_ members: [JSONPieces.Piece]) -> [UInt8] {
        Array("{".utf8) + members.map(\.bytes).joined(separator: CollectionOfOne(UInt8(ascii: ","))) + "}".utf8
    }
}
