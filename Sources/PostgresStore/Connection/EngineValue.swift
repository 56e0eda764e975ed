/// A parameter of a statement, sent in the binary format. A `bytea` has less than 2 GiB.
enum EngineValue {
    /// A `bigint`; `nil` for null.
    case integer(Int64?)
    /// A `bytea`; `nil` for null.
    case bytes([UInt8]?)
    /// A `bigint[]`.
    case integers([Int64?])
    /// A `bytea[]`.
    case byteStrings([[UInt8]?])

    /// Appends the value to a buffer; returns `false`, without a change, for null.
    func append(to buffer: inout [UInt8]) -> Bool {
        switch self {
        case .integer(nil), .bytes(nil): return false
        case .integer(let value?): buffer.append(bigEndian: value)
        case .bytes(let value?): buffer += value
        case .integers(let values):
            Self.appendHeader(count: values.count, hasNull: values.contains { $0 == nil }, elementType: 20, to: &buffer)
            for value in values {
                guard let value else {
                    buffer.append(bigEndian: Int32(-1))
                    continue
                }
                buffer.append(bigEndian: Int32(8))
                buffer.append(bigEndian: value)
            }
        case .byteStrings(let values):
            Self.appendHeader(count: values.count, hasNull: values.contains { $0 == nil }, elementType: 17, to: &buffer)
            for value in values {
                guard let value else {
                    buffer.append(bigEndian: Int32(-1))
                    continue
                }
                buffer.append(bigEndian: Int32(value.count))
                buffer += value
            }
        }
        return true
    }

    /// The size of the value in the binary format.
    var byteCount: Int {
        switch self {
        case .integer(let value): value == nil ? 0 : 8
        case .bytes(let value): value?.count ?? 0
        case .integers(let values): Self.headerBytes + 12 * values.count
        case .byteStrings(let values): values.reduce(Self.headerBytes) { $0 + 4 + ($1?.count ?? 0) }
        }
    }

    private static let headerBytes = 20

    /// The binary form of an array (array_send in PostgreSQL's arrayfuncs.c): the number of dimensions, whether there are nulls, the
    /// type of the elements, the length and the lower bound.
    ///
    /// - Parameter elementType: The object ID of the type, as in PostgreSQL's pg_type.dat.
    private static func appendHeader(count: Int, hasNull: Bool, elementType: Int32, to buffer: inout [UInt8]) {
        buffer.append(bigEndian: Int32(count == 0 ? 0 : 1))
        buffer.append(bigEndian: Int32(hasNull ? 1 : 0))
        buffer.append(bigEndian: elementType)
        guard count > 0 else { return }
        buffer.append(bigEndian: Int32(count))
        buffer.append(bigEndian: Int32(1))
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
