internal import DocumentModel
internal import Foundation

#if canImport(SwiftUI)
public import SwiftUI
#endif

/// A colour, which documents hold as a string in CSS hexadecimal notation: `#fd1c48`, or `#fd1c4880` with an alpha.
public struct Color: Hashable, Sendable {
    private let color: HexColor

    /// Makes a colour of eight bits for each component. An alpha of 255 lets nothing through.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        color = HexColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Reads `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, in either case; nil for anything else.
    public init?(hex: String) {
        guard let color = HexColor(hex) else { return nil }
        self.color = color
    }

    private init(_ color: HexColor) {
        self.color = color
    }

    /// Black.
    public static let black = Color(.black)
    /// White.
    public static let white = Color(.white)

    /// The red component, 0 to 255.
    public var red: UInt8 { color.red }
    /// The green component, 0 to 255.
    public var green: UInt8 { color.green }
    /// The blue component, 0 to 255.
    public var blue: UInt8 { color.blue }
    /// How much covers what lies below, 0 to 255.
    public var alpha: UInt8 { color.alpha }
    /// Whether nothing shows through.
    public var isOpaque: Bool { color.isOpaque }

    /// The notation in its shortest form that says all: `#rgb` or `#rrggbb`, and `#rgba` or `#rrggbbaa` for a colour that isn't
    /// opaque.
    public var hex: String { "#" + color.shortestDigits }

    /// Black or white, whichever reads better on this colour over a white ground.
    public var readableText: Color {
        Color(color.onWhite.textColor)
    }
}

extension Color: CustomStringConvertible {
    /// The colour as ``hex``.
    public var description: String { hex }
}

extension Color: Codable {
    /// Decodes the notation.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a string that is none.
    public init(from decoder: any Swift.Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let color = HexColor(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Expected a colour such as #fd1c48, #f05, #f058 or #fd1c4880, found \(Excerpt(text))."
                )
            )
        }
        self.color = color
    }

    /// Encodes ``hex``.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

#if canImport(SwiftUI)
extension Color {
    /// The nearest colour of eight bits a component to one of SwiftUI's, in an environment.
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
    /// The colour as SwiftUI has it.
    public init(_ color: Color) {
        func share(_ component: UInt8) -> Double { Double(component) / 255 }
        self.init(
            .sRGB,
            red: share(color.red),
            green: share(color.green),
            blue: share(color.blue),
            opacity: share(color.alpha)
        )
    }
}
#endif
