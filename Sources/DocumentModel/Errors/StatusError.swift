package import StrictJSON

/// The one error of model, store and client: a canonical code, a text that says what to do, and the place.
///
/// The text is written for a person. It says what was expected and what was found, quotes at most a short escaped
/// excerpt of foreign text, and never a secret. Programs look at ``code``, ``path`` and ``field``.
public struct StatusError: Error, Sendable {
    /// What kind of failure this is.
    public var code: StatusCode
    /// What was expected, what was found, and what to do.
    public var message: String
    private var box: Box?

    /// Makes an error; give every place that is known.
    public init(
        _ code: StatusCode,
        _ message: String,
        path: String? = nil,
        field: String? = nil,
        file: FileLocation? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        guard path != nil || field != nil || file != nil || cause != nil else { return }
        details = Details(path: path, field: field, file: file, cause: cause)
    }

    /// The document or collection concerned, relative to the database.
    public var path: String? {
        get { details.path }
        set { details.path = newValue }
    }

    /// The field concerned: a field path in canonical form, with `[i]` for the elements of arrays, such as `tags[2].color`.
    public var field: String? {
        get { details.field }
        set { details.field = newValue }
    }

    /// Which part of a query is at fault, by its JSON form, such as `where.and[1].op`; nil for what concerns no query.
    public var place: String? {
        get { details.place }
        set { details.place = newValue }
    }

    /// Where in the JSON that was read the fault is, which ``message`` tells too; nil for what was not read from JSON.
    package var textPlace: TextPlace? {
        get { details.textPlace }
        set { details.textPlace = newValue }
    }

    /// Which write of its commit could not be applied, counted from 0; nil for what does not concern one write.
    public var writeIndex: Int? {
        get { details.writeIndex }
        set { details.writeIndex = newValue }
    }

    /// After how long the caller is advised to try again; nil where there is no advice.
    public var retryAfter: Duration? {
        get { details.retryAfter }
        set { details.retryAfter = newValue }
    }

    /// The oldest commit that is kept, where what is asked for is older; nil for what does not concern the past.
    package var oldestSequence: UInt64? {
        get { details.oldestSequence }
        set { details.oldestSequence = newValue }
    }

    /// The damaged file concerned.
    public var file: FileLocation? {
        get { details.file }
        set { details.file = newValue }
    }

    /// What lies behind this error; for the log only, never sent to a caller.
    public var cause: (any Error)? {
        get { details.cause }
        set { details.cause = newValue }
    }

    /// A place in a text.
    package struct TextPlace: Sendable, Hashable {
        /// The line, counted from 1.
        package let line: Int
        /// The column in that line, in Unicode scalars counted from 1.
        package let column: Int
        /// The byte in the text, counted from 0.
        package let offset: Int

        /// With what the message ends that tells it.
        var note: String { " (Line \(line), column \(column), byte \(offset) of the JSON.)" }
    }

    /// The same without the place in the JSON that was read, for who tells that in another way.
    package var withoutTextPlace: StatusError {
        guard let note = textPlace?.note.utf8, message.utf8.suffix(note.count).elementsEqual(note) else { return self }
        var error = self
        error.message = String(Substring(message.utf8.dropLast(note.count)))
        error.textPlace = nil
        return error
    }

    /// A file of the data folder, and the place in it where the fault is in what it holds.
    public struct FileLocation: Sendable, Hashable {
        /// The file's or folder's path relative to the data folder.
        public let path: String
        /// The line, counted from 1; nil where the fault is the file itself, or a folder.
        public let line: Int?
        /// The column in that line, in Unicode scalars counted from 1; nil as the line is.
        public let column: Int?

        /// Makes the location of a file as a whole, or of a folder.
        public init(path: String) {
            self.path = path
            line = nil
            column = nil
        }

        /// Makes the location of a place in a file.
        public init(path: String, line: Int, column: Int) {
            self.path = path
            self.line = line
            self.column = column
        }
    }
}

extension StatusError {
    /// What only some errors have.
    private struct Details: Sendable {
        var path: String?
        var field: String?
        var place: String?
        var textPlace: TextPlace?
        var writeIndex: Int?
        var retryAfter: Duration?
        var oldestSequence: UInt64?
        var file: FileLocation?
        var cause: (any Error)?
    }

    /// Holds them apart, because every call that may throw an error has room for one, and every task keeps that room.
    private final class Box: Sendable {
        let details: Details

        init(_ details: Details) {
            self.details = details
        }
    }

    private var details: Details {
        get { box?.details ?? Details() }
        set { box = Box(newValue) }
    }
}

extension StatusError: CustomStringConvertible {
    /// One line for a log or a terminal: code, message and places, with nothing in it that could move the cursor.
    ///
    /// The ``cause`` is left to the log's own metadata.
    public var description: String {
        var places: [String] = []
        if let path { places.append("path \(Excerpt(path, maximumBytes: Self.placeBytes))") }
        if let field { places.append("field \(Excerpt(field, maximumBytes: Self.placeBytes))") }
        if let place { places.append("at \(place)") }
        if let writeIndex { places.append("write \(writeIndex)") }
        if let file {
            places.append("file \(Excerpt(file.path, maximumBytes: Self.placeBytes))\(file.placeDescription)")
        }
        return "\(code.name): \(message)" + (places.isEmpty ? "" : " (" + places.joined(separator: "; ") + ")")
    }

    /// A path as long as a name may be is shown whole.
    private static let placeBytes = DocumentLimits.maximumNameBytes
}

extension StatusError.FileLocation {
    fileprivate var placeDescription: String {
        guard let line, let column else { return "" }
        return ", line \(line), column \(column)"
    }
}

extension StatusError {
    /// The same error seen from the commit around the write.
    package func ofWrite(at index: Int) -> StatusError {
        var error = self
        error.writeIndex = index
        return error
    }

    /// The same error seen from the document around the value: its ``field`` is inside the field at `path`.
    package func inside(_ path: FieldPath) -> StatusError {
        path.segments.reversed().reduce(self) { error, segment in error.inside(field: segment) }
    }

    /// The same error seen from the map around the value: its ``field`` is inside the map's member `name`.
    package func inside(field name: UTF8Key) -> StatusError {
        let isNameTooLong = name.byteCount > DocumentLimits.maximumNameBytes
        return inside(isNameTooLong ? Excerpt(name.string).text : FieldPath.canonicalText(ofSegment: name))
    }

    /// The same error seen from the array around the value: its ``field`` is inside the element at `index`.
    package func inside(element index: Int) -> StatusError {
        inside("[\(index)]")
    }

    private func inside(_ outer: String) -> StatusError {
        var error = self
        error.field =
            switch field {
            case nil: outer
            case .some(let inner) where inner.utf8.first == UInt8(ascii: "["): outer + inner
            case .some(let inner): outer + "." + inner
            }
        return error
    }
}
