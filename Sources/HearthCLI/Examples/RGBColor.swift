import UTF8Text

/// A color with 8 bits each for red, green and blue.
struct RGBColor: Hashable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    /// The CSS notation: `#f8f8ff`.
    var hex: String {
        "#" + Hexadecimal.encode([red, green, blue])
    }

    /// The name of the hue, or `black`, `white` or `gray`, followed by `dark` or `light` if applicable.
    var tags: [String] {
        [hueName] + (lightness < 0.35 ? ["dark"] : lightness > 0.75 ? ["light"] : [])
    }

    private var levels: [Double] { [red, green, blue].map { Double($0) / 255 } }
    private var maximum: Double { levels.max() ?? 0 }
    private var minimum: Double { levels.min() ?? 0 }
    private var lightness: Double { (maximum + minimum) / 2 }

    private var hueName: String {
        guard maximum - minimum > 0.1 else {
            return switch lightness {
            case ..<0.1: "black"
            case 0.9...: "white"
            default: "gray"
            }
        }
        return switch hue {
        case ..<15: "red"
        case ..<45: "orange"
        case ..<70: "yellow"
        case ..<165: "green"
        case ..<200: "cyan"
        case ..<260: "blue"
        case ..<290: "purple"
        case ..<345: "pink"
        default: "red"
        }
    }

    /// The hue in degrees; red is 0.
    private var hue: Double {
        let (red, green, blue) = (levels[0], levels[1], levels[2])
        let chroma = maximum - minimum
        let sixths =
            if maximum == red {
                (green - blue) / chroma
            } else if maximum == green {
                (blue - red) / chroma + 2
            } else {
                (red - green) / chroma + 4
            }
        return sixths < 0 ? sixths * 60 + 360 : sixths * 60
    }
}
