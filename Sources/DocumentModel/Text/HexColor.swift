/// A colour in CSS hexadecimal notation: `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`.
package struct HexColor: Hashable, Sendable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8
    /// How much covers what lies below: 255 is opaque.
    package let alpha: UInt8

    /// Makes a colour of its components.
    package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Reads one of the four forms; nil for any other string.
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

    /// Six lower-case digits, eight when the colour isn't opaque: alike for every way to write the same colour.
    package var digits: String {
        Hexadecimal.encode(components)
    }

    /// Half as many digits where each component has the same one twice.
    package var shortestDigits: String {
        guard components.allSatisfy({ $0 >> 4 == $0 & 0xf }) else { return digits }
        return components.map { String($0 & 0xf, radix: 16) }.joined()
    }

    private var components: [UInt8] { [red, green, blue] + (isOpaque ? [] : [alpha]) }

    /// Whether nothing shows through.
    package var isOpaque: Bool { alpha == 255 }

    /// The opaque colour that it makes on a white ground.
    package var onWhite: HexColor {
        HexColor(red: mixed(red), green: mixed(green), blue: mixed(blue))
    }

    private func mixed(_ component: UInt8) -> UInt8 {
        let weighted = Int(component) * Int(alpha) + 255 * (255 - Int(alpha))
        return UInt8((weighted + 127) / 255)
    }
}
