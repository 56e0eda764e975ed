import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Hexadecimal colors")
struct ColorTests {
    @Test(arguments: [
        ("#fd1c48", "#fd1c48"), ("#FD1C48", "#fd1c48"), ("#f40", "#f40"), ("#ff4400", "#f40"), ("#f408", "#f408"),
        ("#FF440088", "#f408"), ("#ff440080", "#ff440080"), ("#1a73e8ff", "#1a73e8"),
    ]) func `Parses all notations and formats the shortest one`(text: String, hex: String) throws {
        let color = try #require(HexColor(hex: text))
        #expect(color.hex == hex)
        #expect(try decode([String: HexColor].self, ["a": .string(text)]) == ["a": color])
        #expect(try fields(of: ["a": color]) == ["a": .string(hex)])
        #expect(try JSONDecoder().decode([HexColor].self, from: JSONEncoder().encode([color])) == [color])
    }

    @Test func `A color has components`() throws {
        let color = try #require(HexColor(hex: "#fd1c4880"))
        #expect((color.red, color.green, color.blue, color.alpha) == (0xfd, 0x1c, 0x48, 0x80))
        #expect(!color.isOpaque)
        #expect(color == HexColor(red: 0xfd, green: 0x1c, blue: 0x48, alpha: 0x80))
        #expect(Set([color, HexColor(red: 0xfd, green: 0x1c, blue: 0x48, alpha: 0x80), .white]).count == 2)
    }

    @Test(arguments: [("#fd1c48", HexColor.black), ("#000", .white), ("#fff", .black), ("#0000", .black), ("#00f", .white)])
    func `Determines a readable text color`(text: String, expected: HexColor) throws {
        #expect(try #require(HexColor(hex: text)).readableText == expected)
    }

    @Test(arguments: ["", "#", "#ff", "#fffff", "fd1c48", "red", "#fd1c4g", "#ＦＤ1c48"]) func `Rejects other strings`(
        text: String
    ) throws {
        #expect(HexColor(hex: text) == nil)
        let error = try #require(throws: DecodingError.self) {
            try decode([String: [HexColor]].self, ["a": .array([.string("#fff"), .string(text)])])
        }
        #expect(error.kind == "dataCorrupted")
        #expect(error.path == ["a", "Index 1"])
    }
}
