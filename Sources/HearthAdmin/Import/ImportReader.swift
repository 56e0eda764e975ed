import DocumentModel
import HearthService
import StrictJSON

/// Reads the documents of a file, and says of each that can't be read which line it is on and what is wrong.
struct ImportReader {
    let plan: ImportPlan
    private let bytes: [UInt8]

    /// - Parameter name: The file's name, by whose ending the format is known where the plan leaves that open.
    init(_ bytes: [UInt8], name: UTF8Key, plan: ImportPlan) {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        self.bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        var plan = plan
        if plan.format == .automatic { plan.format = .format(ofName: name, self.bytes) }
        self.plan = plan
    }

    /// Gives all documents, in the order of the file.
    ///
    /// - Parameter body: Takes a document or what is wrong with it; gives whether to go on.
    func read(
        _ body: (Result<ImportPlan.Entry, ImportPlan.Fault>) async throws(StatusError) -> Bool
    ) async throws(StatusError) {
        switch plan.format {
        case .json: try await forEachElement(body)
        case .csv: try await forEachRow(body)
        default: try await forEachLine(body)
        }
    }

    private func entry(
        line: Int,
        byteCount: Int,
        _ document: () throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        do throws(StatusError) {
            let document = try document()
            return .success(.init(line: line, path: document.path, fields: document.fields, byteCount: byteCount))
        } catch {
            return .failure(.init(line: line, error: error))
        }
    }
}

// NDJSON.
extension ImportReader {
    private func forEachLine(
        _ body: (Result<ImportPlan.Entry, ImportPlan.Fault>) async throws(StatusError) -> Bool
    ) async throws(StatusError) {
        var lines = LineSplitter(maximumBytes: DocumentLine.maximumBytes)
        lines.append(bytes)
        var number = 0
        while let line = lines.next() ?? lines.finish() {
            number += 1
            // No file in memory has a longer line than is read.
            guard case .complete(let text) = line, text.contains(where: { $0 > UInt8(ascii: " ") }) else { continue }
            let entry = entry(line: number, byteCount: text.count) { () throws(StatusError) in
                do throws(JSONSyntaxError) {
                    return try JSONText(text).root
                } catch {
                    throw StatusError(.invalidArgument, "Not JSON: \(error.reason), at column \(error.column).")
                }
            } _: { json throws(StatusError) in
                try plan.document(json)
            }
            guard try await body(entry) else { return }
        }
    }

    private func entry(
        line: Int,
        byteCount: Int,
        _ read: () throws(StatusError) -> JSONNode,
        _ document: (JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        entry(line: line, byteCount: byteCount) { () throws(StatusError) in try document(try read()) }
    }
}

// JSON.
extension ImportReader {
    private func forEachElement(
        _ body: (Result<ImportPlan.Entry, ImportPlan.Fault>) async throws(StatusError) -> Bool
    ) async throws(StatusError) {
        let json: JSONNode
        do throws(JSONSyntaxError) {
            json = try JSONText(bytes, limits: JSONLimits(maximumBytes: .max)).root
        } catch {
            _ = try await body(.failure(.init(line: error.line, error: StatusError(.invalidArgument, "Not JSON: \(error)."))))
            return
        }
        var lines = LineCounter(bytes)
        if let elements = json.elements {
            for element in elements {
                let line = lines.line(of: element.offset)
                let entry = entry(line: line, byteCount: element.rawBytes.count) { () throws(StatusError) in
                    try plan.document(element)
                }
                guard try await body(entry) else { return }
            }
        } else if let members = json.members, json["path"] == nil {
            for (id, member) in members {
                let line = lines.line(of: member.offset)
                let entry = entry(line: line, byteCount: member.rawBytes.count) { () throws(StatusError) in
                    let (path, fields) = (try plan.path(id: id.string), try MapValue(json: member))
                    try Document.validate(fields, at: path)
                    return (path, fields)
                }
                guard try await body(entry) else { return }
            }
        } else {
            _ = try await body(entry(line: 1, byteCount: bytes.count) { () throws(StatusError) in try plan.document(json) })
        }
    }
}

// CSV.
extension ImportReader {
    private func forEachRow(
        _ body: (Result<ImportPlan.Entry, ImportPlan.Fault>) async throws(StatusError) -> Bool
    ) async throws(StatusError) {
        var rows = CSVRows(bytes)
        var headerLine = 1
        let columns: CSVColumns
        do throws(StatusError) {
            let isMarked = rows.skipMarkComment()
            headerLine = rows.line
            guard let header = try rows.next() else { return }
            columns = try CSVColumns(header.cells, plan: plan, isMarked: isMarked)
        } catch {
            _ = try await body(.failure(.init(line: headerLine, error: error)))
            return
        }
        while true {
            let row: CSVRows.Row
            do throws(StatusError) {
                guard let next = try rows.next() else { return }
                row = next
            } catch {
                _ = try await body(.failure(.init(line: rows.line, error: error)))
                return
            }
            let entry = entry(line: row.line, byteCount: row.byteCount) { () throws(StatusError) in
                try columns.document(row.cells)
            }
            guard try await body(entry) else { return }
        }
    }
}

/// The lines of places in a text, asked for in their order.
struct LineCounter {
    private let bytes: [UInt8]
    private var offset = 0
    private var count = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func line(of place: Int) -> Int {
        count += bytes[offset..<place].count { $0 == UInt8(ascii: "\n") }
        offset = place
        return count
    }
}
