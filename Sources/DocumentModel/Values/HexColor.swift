internal import UTF8Text

/// A color in CSS hexadecimal notation: `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`.
package struct HexColor: Hashable, Sendable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8
    /// The alpha component; 255 is opaque.
    package let alpha: UInt8

    /// Creates a color from its components.
    package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Parses one of the four notations, or returns `nil` for any other string.
    package init?(_ string: String) {
        guard string.utf8.first == UInt8(ascii: "#"), string.utf8.count <= 9 else { return nil }
        let digits = string.utf8.dropFirst().compactMap(Hexadecimal.value)
        guard digits.count == string.utf8.count - 1 else { return nil }
        let components: [UInt8]
        switch digits.count {
        case 3, 4: components = digits.map { $0 << 4 | $0 }
        case 6, 8: components = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        default: return nil
        }
        self.init(
            red: components[0],
            green: components[1],
            blue: components[2],
            alpha: components.count > 3 ? components[3] : 255
        )
    }

    /// The canonical digits: six in lowercase, or eight if the color isn't opaque.
    package var digits: String {
        Hexadecimal.encode(components)
    }

    /// The shortest digits: three or four if both digits of every component are equal, otherwise ``digits``.
    package var shortestDigits: String {
        guard components.allSatisfy({ $0 >> 4 == $0 & 0xf }) else { return digits }
        return components.map { String($0 & 0xf, radix: 16) }.joined()
    }

    private var components: [UInt8] { [red, green, blue] + (isOpaque ? [] : [alpha]) }

    /// True if the color is fully opaque.
    package var isOpaque: Bool { alpha == 255 }

    /// The color blended with a white background.
    package var compositedOverWhite: HexColor {
        HexColor(red: mixed(red), green: mixed(green), blue: mixed(blue))
    }

    private func mixed(_ component: UInt8) -> UInt8 {
        let weighted = Int(component) * Int(alpha) + 255 * (255 - Int(alpha))
        return UInt8((weighted + 127) / 255)
    }
}
