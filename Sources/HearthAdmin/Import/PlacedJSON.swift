/// JSON that is put together of pieces of a file, and knows where in the file each of them stands.
struct PlacedJSON {
    private(set) var bytes: [UInt8]
    /// On which line of it each piece begins, at the first column, and where that is in the file.
    private let pieces: [(line: Int, place: TextPlace)]

    /// A piece by itself.
    init(_ piece: JSONPieces.Piece) {
        bytes = piece.bytes
        pieces = [(1, piece.place)]
    }

    /// An object with these members.
    init(members: [JSONPieces.Piece]) {
        bytes = [UInt8(ascii: "{")]
        var pieces: [(line: Int, place: TextPlace)] = []
        var line = 1
        for member in members {
            bytes += (pieces.isEmpty ? "\n" : ",\n").utf8
            line += 1
            pieces.append((line, member.place))
            bytes += member.bytes
            line += member.bytes.count(where: { $0 == UInt8(ascii: "\n") })
        }
        bytes.append(UInt8(ascii: "}"))
        self.pieces = pieces
    }

    /// Where in the file it begins.
    var place: TextPlace { pieces.first?.place ?? TextPlace() }

    /// Where in the file something is, by its line and column here.
    func place(line: Int, column: Int) -> TextPlace {
        guard let piece = pieces.last(where: { $0.line <= line }) else { return place }
        return piece.place.adding(line: line - piece.line + 1, column: column)
    }
}
