import DocumentModel
import TestSupport
import UTF8Text

/// A generator of nested document fields of all types, with strings that are edge cases for codecs.
struct RandomCodecFields {
    private var random: RandomValues

    init(seed: UInt64) {
        random = RandomValues(generator: SeededGenerator(seed: seed))
    }

    mutating func document() -> Document {
        let times = [random.timestamp(), random.timestamp()].sorted()
        return Document(path: random.path(), fields: fields(depth: 4), createTime: times[0], updateTime: times[1])
    }

    mutating func fields(depth: Int) -> MapValue {
        MapValue((0..<number(upTo: 6)).map { _ in (key: UTF8Key(name()), value: value(depth: depth)) })
    }

    mutating func value(depth: Int) -> Value {
        switch number(upTo: depth > 0 ? 12 : 9) {
        case 0: .null
        case 1: .boolean(number(upTo: 1) == 1)
        case 2: .integer(random.integer())
        case 3: .double(random.double())
        case 4: .timestamp(random.timestamp())
        case 5, 6: .string(text())
        case 7: .bytes((0..<number(upTo: 70)).map { _ in UInt8.random(in: 0...255, using: &random.generator) })
        case 8: .reference(random.path())
        case 9: .geoPoint(random.geoPoint())
        case 10: .vector((0..<number(upTo: 20)).map { _ in random.double() })
        case 11: .array((0..<number(upTo: 8)).map { _ in element(depth: depth - 1) })
        default: .map(fields(depth: depth - 1))
        }
    }

    private mutating func element(depth: Int) -> Value {
        let element = value(depth: depth)
        return if case .array = element { .map(["inside": element]) } else { element }
    }

    mutating func name() -> String {
        let names = [
            "$", "$map", "$double", "$timestamp", "$document", "a.b", "`", "\"", "\\", "a b", "é", "e\u{301}", "\u{2028}", "🐵",
            "\u{0}", "\n", "id", "createTime", "{", "]", ",", ":", "plain", "a name long enough to leave the inline form",
        ]
        return random.pick(names) + (number(upTo: 2) == 0 ? text() : "")
    }

    mutating func text() -> String {
        let pieces = [
            "", "a", "\"", "\\", "\\\"", "/", "\u{0}", "\u{1f}", "\u{7f}", "\r\n", "\t", "\u{85}", "\u{2028}", "\u{2029}",
            "\u{feff}", "\u{fffd}", "\u{ffff}", "\u{10ffff}", "🏳️‍🌈", "é", "e\u{301}", "\u{301}", "\u{202e}", "岩澤", "{\"$map\":{",
            "}", "[", ",", ":", "\",\"", "$document", String(repeating: "long ", count: 12), String(repeating: "長", count: 40),
        ]
        return (0..<number(upTo: 3)).reduce("") { text, _ in text + random.pick(pieces) }
    }

    private mutating func number(upTo maximum: Int) -> Int {
        Int.random(in: 0...maximum, using: &random.generator)
    }
}
