import StrictJSON
import TestSupport
import Testing

@Suite("Random JSON texts")
struct JSONRandomTests {
    @Test
    func `Written values round-trip, with and without white space`() throws {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let sample = JSONSample.random(depth: 4, using: &generator)
            let text = sample.text
            #expect(try JSONSample(JSONText(text).root) == sample, seedComment)
            #expect(ReferenceJSONParser.value(of: text) == sample, seedComment)
            #expect(try JSONSample(JSONText(spread(text, using: &generator)).root) == sample, seedComment)
        }
    }

    @Test
    func `The raw bytes of every value parse to the same value`() throws {
        func check(_ node: JSONNode) throws {
            #expect(try JSONSample(JSONText(Array(node.rawBytes)).root) == JSONSample(node), seedComment)
            for element in node.elements.map(Array.init) ?? [] { try check(element) }
            for member in node.members.map(Array.init) ?? [] { try check(member.value) }
        }
        var generator = SeededGenerator()
        for _ in 0..<50 { try check(JSONText(JSONSample.random(depth: 3, using: &generator).text).root) }
    }

    @Test
    func `The parser agrees with the reference parser on mutated texts`() {
        var generator = SeededGenerator()
        var acceptedCount = 0
        for round in 0..<5_000 {
            var text = round % 4 == 0 ? Array(handwritten.utf8) : JSONSample.random(depth: 2, using: &generator).text
            for _ in 0...Int.random(in: 0..<3, using: &generator) { mutate(&text, using: &generator) }
            let expected = ReferenceJSONParser.value(of: text)
            do {
                let root = try JSONText(text).root
                acceptedCount += 1
                #expect(JSONSample(root) == expected, "\(text) \(seedComment)")
            } catch {
                #expect(expected == nil, "\(error) in \(text) \(seedComment)")
                #expect(error.offset >= 0 && error.offset <= text.count, seedComment)
            }
        }
        // The test is meaningful only if both outcomes are common.
        #expect((500...4_500).contains(acceptedCount), "\(acceptedCount) accepted, \(seedComment)")
    }

    private let handwritten =
        #"{"a\u0062\ud83d\udca9":[1, -2.5e+3, 0.0e-0,true ,false, null],"é̂":{"":"\"\\\/\b\f\n\r\t"},"x":[[],{}]}"#

    private var seedComment: Comment { "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)" }

    /// Returns the text with white space around its punctuation, outside strings.
    private func spread(_ text: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var spread: [UInt8] = []
        var isInString = false
        var isEscaped = false
        for byte in text {
            let isPunctuation = !isInString && "{}[]:,".utf8.contains(byte)
            if isPunctuation { spread += Array(" \t\r\n".utf8).shuffled(using: &generator).prefix(2) }
            spread.append(byte)
            if isPunctuation, generator.chance(50) { spread.append(UInt8(ascii: "\n")) }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return spread
    }

    private func mutate(_ text: inout [UInt8], using generator: inout SeededGenerator) {
        let interesting =
            Array("{}[]:,\"\\/ubnt0123456789.eE+-adf \t\n\r".utf8) + [0x00, 0x1f, 0x7f, 0x80, 0xbf, 0xc3, 0xed, 0xa0, 0xf0, 0xff]
        let byte = interesting.randomElement(using: &generator) ?? 0
        guard !text.isEmpty else { return text.append(byte) }
        let index = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: text[index] = byte
        case 1: text.insert(byte, at: index)
        case 2: text.remove(at: index)
        case 3: text.swapAt(index, Int.random(in: 0..<text.count, using: &generator))
        case 4:
            let length = Int.random(in: 0...min(12, text.count - index), using: &generator)
            text.insert(contentsOf: text[index..<index + length], at: index)
        case 5: text[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        default: text.removeSubrange(index..<min(text.count, index + Int.random(in: 1..<6, using: &generator)))
        }
    }
}
