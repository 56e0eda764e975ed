internal import DocumentModel
internal import Foundation
internal import UTF8Text

#if canImport(SwiftUI)
public import SwiftUI
#endif

/// A color, stored in documents as a string in CSS hexadecimal notation: `#fd1c48`, or `#fd1c4880` with an alpha component.
///
/// `Color` is another name for it where there is no SwiftUI, so that models which a SwiftUI app shares with a server compile there.
public struct HexColor: Hashable, Sendable {
    private let color: DocumentModel.HexColor

    /// Creates a color from 8-bit components. An alpha of 255 is opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        color = DocumentModel.HexColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Parses `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, case-insensitively; returns `nil` for any other string.
    public init?(hex: String) {
        guard let color = DocumentModel.HexColor(hex) else { return nil }
        self.color = color
    }

    private init(_ color: DocumentModel.HexColor) {
        self.color = color
    }

    /// Black.
    public static let black = HexColor(.black)
    /// White.
    public static let white = HexColor(.white)

    /// The red component, 0 to 255.
    public var red: UInt8 { color.red }
    /// The green component, 0 to 255.
    public var green: UInt8 { color.green }
    /// The blue component, 0 to 255.
    public var blue: UInt8 { color.blue }
    /// The alpha component, 0 to 255.
    public var alpha: UInt8 { color.alpha }
    /// True if the alpha component is 255.
    public var isOpaque: Bool { color.isOpaque }

    /// The shortest hexadecimal notation: `#rgb` or `#rrggbb`, or `#rgba` or `#rrggbbaa` if the color isn't opaque.
    public var hex: String { "#" + color.shortestDigits }

    /// Black or white, whichever has the higher contrast with this color on a white background.
    public var readableText: HexColor {
        HexColor(color.compositedOverWhite.textColor)
    }
}

extension HexColor: CustomStringConvertible {
    /// The hexadecimal notation.
    public var description: String { hex }
}

extension HexColor: Codable {
    /// Decodes the hexadecimal notation.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for any other string.
    public init(from decoder: any Swift.Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let color = DocumentModel.HexColor(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Expected a color such as #fd1c48, #f05, #f058 or #fd1c4880, found \(Excerpt(text))."
                )
            )
        }
        self.color = color
    }

    /// Encodes the hexadecimal notation.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

#if canImport(SwiftUI)
extension HexColor {
    /// Creates a color from a SwiftUI color resolved in an environment, rounded to 8 bits per component.
    public init(_ color: SwiftUI.Color, in environment: EnvironmentValues = EnvironmentValues()) {
        func byte(_ component: Float) -> UInt8 { UInt8((min(max(component, 0), 1) * 255).rounded()) }
        let resolved = color.resolve(in: environment)
        self.init(
            red: byte(resolved.red),
            green: byte(resolved.green),
            blue: byte(resolved.blue),
            alpha: byte(resolved.opacity)
        )
    }
}

extension SwiftUI.Color {
    /// Creates a SwiftUI color.
    public init(_ color: HexColor) {
        func fraction(_ component: UInt8) -> Double { Double(component) / 255 }
        self.init(
            .sRGB,
            red: fraction(color.red),
            green: fraction(color.green),
            blue: fraction(color.blue),
            opacity: fraction(color.alpha)
        )
    }
}
#else
/// The name that models of SwiftUI apps use.
public typealias Color = HexColor
#endif
