package import DocumentModel
import UTF8Text

/// Reads the form of a WebChannel request while it arrives: `count=2&ofs=1&req0___data__=…&req1___data__=…`.
///
/// Parts may begin and end anywhere. No more is retained than the value being read.
package struct WebChannelFormReader: Sendable {
    /// An item of a form.
    package enum Item: Hashable, Sendable {
        /// The header block of a handshake.
        case headers([UInt8])
        /// A message of the client with its number in the channel; `nil` for a number to be skipped, whose message the client could
        /// not encode.
        case message([UInt8]?, id: Int)
    }

    private enum Name {
        case headers
        case offset
        case data(Int)
        case type(Int)
        case other
    }

    private enum Escape {
        case none
        /// After a `%`.
        case percent
        /// After a `%` and a digit with this value.
        case digit(UInt8)
    }

    /// The maximum length of a decoded message that has not begun to arrive.
    package var maximumMessageBytes: Int
    private var input: [UInt8] = []
    private var position = 0
    private var nameBytes: [UInt8] = []
    private var value: [UInt8] = []
    /// The parsed name, once its value has begun.
    private var name: Name?
    private var maximumValueBytes = 0
    private var escape = Escape.none
    private var offset = 0
    private var messageCount = 0
    private var itemCount = 0
    private var hasHeaders = false

    /// The maximum number of messages in a form.
    package static let maximumMessageCount = 1_000
    /// The maximum number of items in a form, those that are ignored included: for each message its data and type.
    package static let maximumItemCount = 2 * maximumMessageCount + 16
    /// The maximum length of a header block.
    package static let maximumHeaderBytes = 32 << 10
    private static let maximumNameBytes = 64
    private static let maximumOtherBytes = 1 << 10
    /// The largest number that a JavaScript client counts to.
    private static let maximumID = 1 << 53

    /// Creates a reader.
    ///
    /// - Parameter maximumMessageBytes: The maximum length of a decoded message.
    package init(maximumMessageBytes: Int) {
        self.maximumMessageBytes = maximumMessageBytes
    }

    /// Appends a part of the form. All items before must have been read with ``next()``.
    package mutating func append(_ part: [UInt8]) {
        input = part
        position = 0
    }

    /// The number of bytes of the value being read.
    package var bufferedBytes: Int { value.count }

    /// Returns the next item, or `nil` if more of the form is needed.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a malformed form, ``StatusCode/resourceExhausted`` for one with too much in it.
    package mutating func next() throws(StatusError) -> Item? {
        while position < input.count {
            let byte = input[position]
            position += 1
            switch byte {
            case UInt8(ascii: "&"):
                if let item = try endItem() { return item }
            case UInt8(ascii: "=") where name == nil:
                try endName()
            default:
                try receive(byte)
            }
        }
        return nil
    }

    /// Ends the form, and returns its last item.
    package mutating func finish() throws(StatusError) -> Item? {
        try endItem()
    }

    private mutating func receive(_ byte: UInt8) throws(StatusError) {
        switch escape {
        case .none where byte == UInt8(ascii: "%"):
            escape = .percent
        case .none:
            try append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        case .percent:
            guard let high = Hexadecimal.value(of: byte) else { throw Self.malformed }
            escape = .digit(high)
        case .digit(let high):
            guard let low = Hexadecimal.value(of: byte) else { throw Self.malformed }
            escape = .none
            try append(high << 4 | low)
        }
    }

    private mutating func append(_ byte: UInt8) throws(StatusError) {
        guard name != nil else {
            guard nameBytes.count < Self.maximumNameBytes else { throw Self.malformed }
            return nameBytes.append(byte)
        }
        guard value.count < maximumValueBytes else {
            throw StatusError(.resourceExhausted, "A value in the form exceeds \(maximumValueBytes) bytes.")
        }
        value.append(byte)
    }

    private mutating func endName() throws(StatusError) {
        guard case .none = escape else { throw Self.malformed }
        let name = Self.parse(nameBytes)
        self.name = name
        maximumValueBytes =
            switch name {
            case .headers: Self.maximumHeaderBytes
            case .data: maximumMessageBytes
            case .offset, .type, .other: Self.maximumOtherBytes
            }
    }

    private mutating func endItem() throws(StatusError) -> Item? {
        guard case .none = escape else { throw Self.malformed }
        let (name, value) = (name, value)
        self.name = nil
        self.value = []
        nameBytes = []
        itemCount += 1
        guard itemCount <= Self.maximumItemCount else {
            throw StatusError(.resourceExhausted, "Expected at most \(Self.maximumItemCount) items in a form.")
        }
        switch name {
        case .headers:
            guard !hasHeaders else { throw StatusError(.invalidArgument, "The form has several header blocks.") }
            hasHeaders = true
            return .headers(value)
        case .offset:
            guard let number = Self.number(value[...]) else { throw Self.malformed }
            offset = number
        case .data(let index):
            return .message(value, id: try id(at: index))
        case .type(let index) where value.elementsEqual("_badmap".utf8):
            return .message(nil, id: try id(at: index))
        case .type, .other, nil:
            break
        }
        return nil
    }

    /// Returns the number of a message in the channel.
    private mutating func id(at index: Int) throws(StatusError) -> Int {
        messageCount += 1
        guard messageCount <= Self.maximumMessageCount else {
            throw StatusError(.resourceExhausted, "Expected at most \(Self.maximumMessageCount) messages in a request.")
        }
        return offset + index
    }

    private static func parse(_ name: [UInt8]) -> Name {
        if name.elementsEqual("headers".utf8) { return .headers }
        if name.elementsEqual("ofs".utf8) { return .offset }
        guard name.starts(with: "req".utf8) else { return .other }
        let rest = name.dropFirst(3)
        let digits = rest.prefix { $0 != UInt8(ascii: "_") }
        guard let index = number(digits) else { return .other }
        let kind = rest.dropFirst(digits.count)
        if kind.elementsEqual("___data__".utf8) { return .data(index) }
        return kind.elementsEqual("_type".utf8) ? .type(index) : .other
    }

    /// Parses a number of a message.
    package static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...16).contains(digits.count) else { return nil }
        var number = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number <= maximumID ? number : nil
    }

    private static var malformed: StatusError {
        StatusError(.invalidArgument, "The body is not a form of WebChannel messages: count=N&ofs=N&req0___data__=…")
    }
}
