internal import CLibPQ
internal import DocumentModel
internal import UTF8Text

/// The rows that a statement returned, in the binary format.
final class EngineRows {
    private let pointer: OpaquePointer

    /// Takes over a result of libpq.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQclear(pointer)
    }

    /// The number of rows.
    var count: Int { Int(PQntuples(pointer)) }

    /// Returns whether a value is null.
    func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(pointer, Int32(row), Int32(column)) == 1
    }

    /// Returns a `bigint`; `nil` for null.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        withBytes(row, column) { bytes in
            bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : nil
        } ?? nil
    }

    /// Returns a `bytea`; `nil` for null.
    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        withBytes(row, column) { Array($0) }
    }

    /// Returns a `bytea` of UTF-8 text; `nil` for null.
    func text(_ row: Int, _ column: Int) -> String? {
        withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a `bigint` of microseconds as a time; `nil` for null.
    func time(_ row: Int, _ column: Int) -> Timestamp? {
        integer(row, column).flatMap { try? Timestamp(microseconds: $0) }
    }

    private func withBytes<Result>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard !isNull(row, column), let start = PQgetvalue(pointer, Int32(row), Int32(column)) else { return nil }
        let count = Int(PQgetlength(pointer, Int32(row), Int32(column)))
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }
}

extension EngineRows {
    /// Returns a `bytea` of UTF-8 text as a key; `nil` for null.
    func key(_ row: Int, _ column: Int) -> UTF8Key? {
        text(row, column).map { UTF8Key($0) }
    }
}
