import DocumentModel
import Testing
import UTF8Text

@Suite("Hexadecimal colors")
struct HexColorTests {
    @Test(
        arguments: [
            ("#fd1c48", "fd1c48"), ("#FD1C48", "fd1c48"), ("#f40", "ff4400"), ("#f408", "ff440088"), ("#1a73e866", "1a73e866"),
            ("#000", "000000"), ("#ffffff", "ffffff"), ("#ffff", "ffffff"), ("#1a73e8ff", "1a73e8"), ("#0000", "00000000"),
        ]
    )
    func `All four notations are parsed, in either case`(text: String, digits: String) throws {
        #expect(try #require(HexColor(text)).digits == digits)
    }

    @Test(
        arguments: [
            "", "#", "#f", "#ff", "#fffff", "#fffffff", "#fffffffff", "fd1c48", "# fd1c48", "#fd1c48 ", "#fd1c4g", "#ＦＤ1c48",
            "#fd1c4\u{661}", "＃fd1c48", "#fd1c48\u{301}", "#\u{301}fd1c48", "#fff\0", "red", "rgb(0,0,0)", "##fff", "#-ff",
            "#+ff",
        ]
    )
    func `Any other string is rejected`(text: String) {
        #expect(HexColor(text) == nil)
    }

    @Test
    func `Text has sufficient contrast on every color`() throws {
        // Every sixth step of each channel, and the neighborhood of the worst color.
        var least = (ratio: 21.0, color: HexColor.white)
        let steps = Array(stride(from: 0, through: 255, by: 6)) + [255]
        for red in steps {
            for green in steps {
                for blue in steps {
                    let color = HexColor(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
                    let ratio = color.contrast(with: color.textColor)
                    if ratio < least.ratio { least = (ratio, color) }
                }
            }
        }
        let worst = try #require(HexColor("#cf0dcc"))
        least.ratio = min(least.ratio, worst.contrast(with: worst.textColor))
        #expect(least.ratio >= 4.58, "on #\(least.color.digits)")
    }

    @Test(
        arguments: [
            ("#000000", "#ffffff", 21.0), ("#ffffff", "#ffffff", 1.0), ("#777777", "#ffffff", 4.478),
            ("#0000ff", "#ffffff", 8.592),
        ]
    )
    func `Contrast matches WCAG`(first: String, second: String, ratio: Double) throws {
        let (first, second) = (try #require(HexColor(first)), try #require(HexColor(second)))
        #expect(abs(first.contrast(with: second) - ratio) < 0.001)
        #expect(first.contrast(with: second) == second.contrast(with: first))
    }

    @Test(
        arguments: [("#0000", "ffffff"), ("#000f", "000000"), ("#00000080", "7f7f7f"), ("#f408", "ff9b77")]
    )
    func `The text color of a translucent color is based on white`(text: String, ground: String) throws {
        #expect(try #require(HexColor(text)).compositedOverWhite.digits == ground)
    }
}
