import DocumentModel
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Color style sheets")
struct ColorStyleSheetTests {
    @Test
    func `The style sheet has each color once, sorted`() throws {
        var styles = ColorStyleSheet()
        for text in ["#fd1c48", "#FD1C48", "#000", "#f408"] { styles.insert(try #require(HexColor(text))) }
        #expect(
            styles.css == """
                .c-000000{background-color:#000000;color:#ffffff;--swatch:#000000}
                .c-fd1c48{background-color:#fd1c48;color:#000000;--swatch:#fd1c48}
                .c-ff440088{background-color:#ff9b77;color:#000000;--swatch:#ff440088}
                """
        )
    }
}
