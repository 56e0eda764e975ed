#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension HexColor {
    package static let black = HexColor(red: 0, green: 0, blue: 0)
    package static let white = HexColor(red: 255, green: 255, blue: 255)

    /// The relative luminance (WCAG 2.2), from 0 for black to 1 for white. Alpha is ignored.
    package var luminance: Double {
        0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    /// Returns the contrast ratio (WCAG 2.2), from 1 to 21.
    package func contrast(with other: HexColor) -> Double {
        let (lighter, darker) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (lighter + 0.05) / (darker + 0.05)
    }

    /// The text color with the higher contrast, black or white. The ratio is at least 4.58:1, which satisfies WCAG AA on any
    /// background.
    package var textColor: HexColor {
        contrast(with: .black) >= contrast(with: .white) ? .black : .white
    }

    private static func linear(_ component: UInt8) -> Double {
        let value = Double(component) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
